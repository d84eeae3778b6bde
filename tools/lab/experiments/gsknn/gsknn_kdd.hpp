// Declares what the two parts of gsknn-kdd share: the same question for the CPU and for every other device.
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

/// Compares a device's answers with those of the CPU, which they must equal.
class Rival {
 public:
  /// what  is asked, for the names of the checks
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

  /// Adds the checks to the result, and a note if the device refused.
  void finish(Result& result) const;

 private:
  Device device_;
  std::string refusal_;
  Check labels_, neighbors_;
  std::int64_t labels_compared_ = 0, labels_different_ = 0;
};

/// Returns a Rival for each of settings.devices except settings.cpu.
std::vector<Rival> rivals_of(const Settings& settings, const std::string& what);

/// Holds rows of the training set and of the test set with their labels, ready to be searched.
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

/// Returns how many samples Table 2 draws; the first by settings.seed, the next by settings.seed + 1.
inline std::int64_t draws_of(const Settings& settings) {
  return settings.quick ? 2 : 10;
}

/// Measures Table 2: normal connections and attacks.
void classify_samples(const Settings& settings, const Connections& all, Result& result);

/// Classifies one half of all rows by the other, in five classes.
void classify_whole(const Settings& settings, const Connections& all, Result& result);

}  // namespace kith::experiments::kdd
