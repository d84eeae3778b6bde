// What the experiments share: the right bits, the time of one stage with its operands on the device, the time
// of whole searches, and curves of these times.
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

/// What one measurement gave. Times in seconds, medians over the samples; NaN where nothing was timed.
struct Measured {
  std::string refusal;           ///< why the device does not do it
  std::string difference;        ///< the bits were wrong, so nothing was timed
  double device = not_measured;  ///< device clock
  double host = not_measured;    ///< host clock around the same work, until the device is done
  double total = not_measured;   ///< whole calls: host clock around the call, transfers in
  std::size_t samples = 0;
  std::optional<double> joules;  ///< of one run, where the platform tells
  std::string plan;              ///< whole calls: how it was done, in a line

  bool timed() const { return samples > 0; }
  bool operator==(const Measured&) const = default;
};

/// One sample. What a run has no clock for stays NaN.
struct Seconds {
  double device = not_measured, host = not_measured, total = not_measured;
};

/// Say what is being measured. Throws when the user wants an end.
void tell(const Settings& settings, const std::string& what);

/// Warm up, then run for about settings.seconds: at least three samples, but one where one takes
/// longer than all of that. Tells `what` between runs.
///   device  whose joules are counted then, where settings has a meter for it; null: none are
Measured sample(const Settings& settings, const std::string& what, const std::function<Seconds()>& run,
                const Device* device = nullptr);

/// Calls `body`. Turns an error that it throws into a refusal (unsupported, out_of_memory) or a difference,
/// but passes on interruptions and what `settings.progress` throws.
Measured attempt(const std::function<Measured()>& body);

/// The same, but `body` is not called if an earlier run that was stopped timed `what` already. So `body` may
/// change nothing outside itself.
Measured attempt(const Settings& settings, const std::string& what, const std::function<Measured()>& body);

/// Checks the bits, then takes the time.
///   check  where the bits of one run are wrong; empty where they are right
///   run    one sample
///   plan   of the runs, where they have one
Measured time_checked(const Settings& settings, const Device& device, const std::string& what,
                      const std::function<std::string()>& check, const std::function<Seconds()>& run,
                      const Plan* plan = nullptr);

/// By the host's clock.
double seconds_of(const std::function<void()>& body);

/// Returns the result of settings.cpu for the first `rows` queries
/// of an operation; `select` uses its fastest selector.
StageResult right_result(const Settings& settings, Operation operation, const Operands& operands,
                         std::int64_t rows);

/// Returns a check that passed where `difference` is empty.
Check same_bits(const std::string& what, const std::string& difference);

/// Compares settings.cpu with the plain program of the contract, on the first query.
Check check_cpu(const Settings& settings, const Operation& operation, const Operands& operands);

/// Returns the first `rows` uniform rows of settings.seed.
workloads::Rows uniform_rows(const Settings& settings, workloads::Set set, std::int64_t rows,
                             std::int64_t dims);

/// Distances in host memory.
struct Distances {
  std::vector<float> values;  ///< [m, n]
  std::int64_t m = 0, n = 0;
  MatrixView<const float> view() const { return {values.data(), m, n}; }
};

/// Raw distances of all pairs, by settings.cpu.
Distances right_distances(const Settings& settings, MatrixView<const float> train,
                          MatrixView<const float> queries, Metric metric = Metric::squared_l2);

/// Uniform distances, of no rows: for a selection alone.
Distances random_distances(const Settings& settings, std::int64_t m, std::int64_t n);

/// One stage alone, its operands on the device.
///   expected  right_result() of the first rows, as many as it holds
Measured time_stage(const Settings& settings, const Device& device, const Operation& operation,
                    const Operands& operands, const StageResult& expected);

/// Returns the answer of settings.cpu.
Answer right_answer(const Settings& settings, MatrixView<const float> train, MatrixView<const float> queries,
                    std::int64_t k, Metric metric = Metric::squared_l2,
                    const std::vector<std::int64_t>* labels = nullptr);

/// Returns a whole search on resident rows.
Measured time_search(const Settings& settings, const Index& index, MatrixView<const float> queries,
                     std::int64_t k, const SearchOptions& options, const Answer& expected);

/// Returns a whole classification on resident rows.
Measured time_classify(const Settings& settings, const Classifier& classifier,
                       MatrixView<const float> queries, std::int64_t k, const SearchOptions& options,
                       const Answer& expected);

/// `threshold, 8 lists, tiles 32 x 81920`; `fused, ...`.
std::string short_plan(const Plan& plan);

/// One series being measured, and the check of its bits.
class Curve {
 public:
  /// Labelled `what (spec)`.
  Curve(const std::string& what, const Device& device);
  /// For what runs on no device of kith.
  explicit Curve(const std::string& label);

  /// A point at x: milliseconds of the device's clock. NaN where it was refused or wrong; the note
  /// then says why.
  void add(double x, const Measured& measured) { add(x, measured, 1e3 * measured.device); }
  /// The same with y as its height, if the measurement was timed.
  void add(double x, const Measured& measured, double y);
  /// A sentence more in the note; each once.
  void remark(const std::string& sentence);

  const Series& series() const { return series_; }
  /// Returns the height at x; NaN where there is none.
  double at(double x) const;
  /// Hand the curve to a chart, and its check to the result where any bits were compared.
  void finish(Chart& chart, Result& result) &&;

 private:
  Series series_;
  Check check_;
  std::size_t compared_ = 0;
};

/// Returns the x at which `first` rises above `second`, on a straight line between two points with both axes
/// logarithmic. NaN: nowhere, or a point is missing there.
///   first, second  at the same x, ascending
double crossover(const Series& first, const Series& second);

/// Four digits, or a whole number; `not available` for NaN.
std::string number_text(double value);

/// `1.3x`, `16x`, `0.71x`; `not available` for NaN.
std::string ratio_text(double ratio);

/// `2.31 ms`; `not available` for NaN.
std::string time_text(double seconds);

/// Leaves out a claim that a device could not measure (`here` begins with `not available`) if another device
/// could; if none could, one claim stays.
void drop_empty_claims(Result& result);

/// `not available` for all that a paper does not tell.
inline constexpr const char* not_available = "not available";

}  // namespace kith::experiments
