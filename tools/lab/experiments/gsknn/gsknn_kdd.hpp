// What the two parts of gsknn-kdd share: the same question for the CPU and for every other device.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "kith/classifier.hpp"
#include "lab/experiments/gsknn/gsknn_kdd_data.hpp"
#include "lab/experiments/measure.hpp"

namespace kith::experiments::kdd {

/// A device whose answers must be those of the CPU.
class Rival {
 public:
  /// what  that is asked, for the names of the checks
  Rival(const Device& device, const std::string& what);

  const Device& device() const { return device_; }
  std::string spec() const { return device_.info().spec; }
  bool refuses() const { return !refusal_.empty(); }
  const std::string& refusal() const { return refusal_; }

  /// Calls `body`. If the device refuses, it is not asked again.
  void attempt(const std::function<void()>& body);
  /// where  `draw 3: `, before what differs
  void compare(const Sweep& right, const Sweep& found, std::span<const std::int64_t> ks,
               const std::string& where);
  std::int64_t labels_compared() const { return labels_compared_; }
  std::int64_t labels_different() const { return labels_different_; }

  /// Hand the checks to the result, and a note where the device refused.
  void finish(Result& result) const;

 private:
  Device device_;
  std::string refusal_;
  Check labels_, neighbors_;
  std::int64_t labels_compared_ = 0, labels_different_ = 0;
};

/// Those of settings.devices that are not settings.cpu.
std::vector<Rival> rivals_of(const Settings& settings, const std::string& what);

/// Rows of the training set and of the test set with their labels, ready to be searched.
struct Problem {
  Prepared rows;
  std::vector<std::int64_t> train_labels, truth;

  MatrixView<const float> train() const { return view(rows.train); }
  MatrixView<const float> test() const { return view(rows.test); }
  MatrixView<const float> view(const std::vector<float>& values) const {
    return {values.data(), static_cast<std::int64_t>(values.size()) / rows.width, rows.width};
  }
};

std::string percent_text(double percent);                     ///< `97.36`; a dash for NaN
std::string percent(std::int64_t count, std::int64_t total);  ///< the same

/// Returns samples of Table 2; the first is drawn by settings.seed, the next by settings.seed + 1.
inline std::int64_t draws_of(const Settings& settings) {
  return settings.quick ? 2 : 10;
}

/// Table 2: normal connections and attacks.
void classify_samples(const Settings& settings, const Connections& all, Result& result);

/// All rows, one half by the other, in five classes.
void classify_whole(const Settings& settings, const Connections& all, Result& result);

}  // namespace kith::experiments::kdd
