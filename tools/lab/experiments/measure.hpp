// Gives experiments the right bits, the time of one stage with its operands on the device, the time of whole
// searches, and curves of these times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kith/classifier.hpp"
#include "kith/index.hpp"
#include "lab/experiments/described.hpp"
#include "workloads/cases.hpp"
#include "workloads/clock.hpp"
#include "workloads/operations.hpp"
#include "workloads/rows.hpp"

namespace kith::experiments {

using workloads::Answer, workloads::Operands, workloads::Operation, workloads::Stage, workloads::StageResult;
using workloads::median, workloads::not_measured;

/// Holds one measurement. Times are in seconds, medians over the samples; NaN if nothing was timed.
struct Measured {
  std::string refusal;           ///< why the device does not do it
  std::string difference;        ///< the bits were wrong, so nothing was timed
  double device = not_measured;  ///< device clock
  double host = not_measured;    ///< host clock around the same work, until the device is done
  double total = not_measured;   ///< for whole calls: host clock around the call, transfers included
  std::size_t samples = 0;
  std::optional<double> joules;  ///< joules of one run, if the platform measures them
  std::string plan;              ///< for whole calls: one line about the plan

  bool timed() const { return samples > 0; }
  bool operator==(const Measured&) const = default;
};

/// Holds one sample. A time that a run cannot measure stays NaN.
struct Seconds {
  double device = not_measured, host = not_measured, total = not_measured;
};

/// Reports what is being measured. Throws if the user wants to stop.
void tell(const Settings& settings, const std::string& what);

/// Warms up, then runs for about settings.seconds: at least three samples, but only one if it takes longer
/// than that. Reports `what` between runs.
///   device  device whose joules are counted if settings has a meter for it; null: none are
Measured sample(const Settings& settings, const std::string& what, const std::function<Seconds()>& run,
                const Device* device = nullptr);

/// Calls `body`. Turns an error that it throws into a refusal (unsupported, out_of_memory) or a difference,
/// but passes on interruptions and what `settings.progress` throws.
Measured attempt(const std::function<Measured()>& body);

/// Does the same, but returns the earlier time if a run that was stopped already measured `what`. So `body`
/// may change nothing outside itself.
Measured attempt(const Settings& settings, const std::string& what, const std::function<Measured()>& body);

/// Checks the bits, then takes the time.
///   check  returns where the bits of one run are wrong; empty if they are right
///   run    takes one sample
///   plan   plan of the runs, if they have one
Measured time_checked(const Settings& settings, const Device& device, const std::string& what,
                      const std::function<std::string()>& check, const std::function<Seconds()>& run,
                      const Plan* plan = nullptr);

/// Times `body` by the host's clock.
double seconds_of(const std::function<void()>& body);

/// Returns the result of settings.cpu for the first `rows` queries of an operation; `select` uses its
/// fastest selector.
StageResult right_result(const Settings& settings, Operation operation, const Operands& operands,
                         std::int64_t rows);

/// Returns a check, which passed if `difference` is empty.
Check same_bits(const std::string& what, const std::string& difference);

/// Compares settings.cpu on the first query with the slow program that follows the contract literally.
Check check_cpu(const Settings& settings, const Operation& operation, const Operands& operands);

/// Returns the first `rows` uniform rows that settings.seed gives.
workloads::Rows uniform_rows(const Settings& settings, workloads::Set set, std::int64_t rows,
                             std::int64_t dims);

/// Holds distances in host memory.
struct Distances {
  std::vector<float> values;  ///< [m, n]
  std::int64_t m = 0, n = 0;
  MatrixView<const float> view() const { return {values.data(), m, n}; }
};

/// Computes the raw distances of all pairs by settings.cpu.
Distances right_distances(const Settings& settings, MatrixView<const float> train,
                          MatrixView<const float> queries, Metric metric = Metric::squared_l2);

/// Returns uniform distances that belong to no rows, for a selection alone.
Distances random_distances(const Settings& settings, std::int64_t m, std::int64_t n);

/// Times one stage alone, with its operands on the device.
///   expected  right_result() of the first rows; its length says how many
Measured time_stage(const Settings& settings, const Device& device, const Operation& operation,
                    const Operands& operands, const StageResult& expected);

/// Returns the answer of settings.cpu, with labels if they are given.
Answer right_answer(const Settings& settings, MatrixView<const float> train, MatrixView<const float> queries,
                    std::int64_t k, Metric metric = Metric::squared_l2,
                    const std::vector<std::int64_t>* labels = nullptr);

/// Times a whole search on resident rows.
Measured time_search(const Settings& settings, const Index& index, MatrixView<const float> queries,
                     std::int64_t k, const SearchOptions& options, const Answer& expected);

/// Times a whole classification on resident rows.
Measured time_classify(const Settings& settings, const Classifier& classifier,
                       MatrixView<const float> queries, std::int64_t k, const SearchOptions& options,
                       const Answer& expected);

/// Returns a text such as `threshold, 8 lists, tiles 32 x 81920`, or `fused, ...`.
std::string short_plan(const Plan& plan);

/// Collects one series, and the check of its bits.
class Curve {
 public:
  /// Labels the series `what (spec)`.
  Curve(const std::string& what, const Device& device);
  /// Makes a series that belongs to no device of kith.
  explicit Curve(const std::string& label);

  /// Adds a point at x: milliseconds of the device's clock; NaN if it was refused or wrong, and then the note
  /// says why.
  void add(double x, const Measured& measured) { add(x, measured, 1e3 * measured.device); }
  /// Adds a point with height y, if the measurement was timed.
  void add(double x, const Measured& measured, double y);
  /// Adds a sentence to the note, once.
  void remark(const std::string& sentence);

  const Series& series() const { return series_; }
  /// Returns the height at x; NaN if there is no point.
  double at(double x) const;
  /// Adds the curve to a chart, and its check to the result if any bits were compared.
  void finish(Chart& chart, Result& result) &&;

 private:
  Series series_;
  Check check_;
  std::size_t compared_ = 0;
};

/// Returns the x at which `first` rises above `second`, by straight lines between points on logarithmic axes.
/// NaN: it never does, or a point is missing there.
///   first, second  have the same x, ascending
double crossover(const Series& first, const Series& second);

/// Returns four digits, or a whole number; `not available` for NaN.
std::string number_text(double value);

/// Returns `1.3x`, `16x` or `0.71x`; `not available` for NaN.
std::string ratio_text(double ratio);

/// Returns `2.31 ms`; `not available` for NaN.
std::string time_text(double seconds);

/// Removes a claim that a device could not measure (`here` begins with `not available`) if another device
/// could; if none could, one claim stays.
void drop_empty_claims(Result& result);

/// Stands for everything that a paper does not tell.
inline constexpr const char* not_available = "not available";

}  // namespace kith::experiments
