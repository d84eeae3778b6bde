// The declarations that the parts of `kith tune` share.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "command/shared/command.hpp"
#include "command/shared/kept.hpp"
#include "kith/device.hpp"
#include "kith/index.hpp"
#include "kith/unstable/tuning.hpp"
#include "workloads/rows.hpp"

namespace kith::command {

/// The sizes that are measured, in all combinations.
struct TuneGrid {
  std::vector<std::int64_t> n, m, dims, k;
  std::int64_t most_elements = INT64_MAX;  ///< n * dims
};

/// How a search is done; a size of 0 means that the built-in rule decides it.
struct TunedWay {
  bool fused = false;
  Selector selector = Selector::threshold;  ///< without fused
  Proposer proposer = Proposer::none;
  std::int64_t lists = 0, query_tile = 0, train_tile = 0;

  bool operator==(const TunedWay&) const = default;

  static TunedWay of(const Plan& plan);
  TuningEntry entry(const Problem& problem, double seconds, double built_in_seconds) const;
  std::string text() const;  ///< `gemm and fused`, without sizes
};

/// The results for one problem on one device.
struct TunedProblem {
  Problem problem;
  std::optional<TuningEntry> built_in;  ///< the method that the built-in rule chooses
  std::vector<TuningEntry> best;        ///< the fastest; after a proposer also the fastest without one
  std::size_t timed = 0;                ///< methods whose bits were compared and whose time was measured
  std::vector<std::string> left_out;    ///< methods that were not timed to the end, and why
  std::string refusal;                  ///< why the problem itself is left out; empty if it is not
  std::string difference;               ///< which method gave other bits, and where
  bool unsure = false;  ///< times vary too much to choose anything but the built-in rule's method

  bool operator==(const TunedProblem&) const = default;
};

nlohmann::ordered_json to_json(const TuningEntry& entry);  ///< without its problem
nlohmann::ordered_json to_json(const Problem& problem);
nlohmann::ordered_json to_json(const TunedProblem& problem);  ///< for users

/// Writes all fields, and reads them. tuned_problem_of() throws errors of nlohmann and kith for wrong JSON.
nlohmann::ordered_json whole_json(const TunedProblem& problem);
TunedProblem tuned_problem_of(const nlohmann::ordered_json& json);

/// Training rows of one (n, dims) on a device, and the measurements on them.
class Tuner {
 public:
  /// `step` is called between the steps of searches, and may throw to end the measurement.
  Tuner(const Device& device, Metric metric, std::int64_t n, std::int64_t dims, std::int64_t most_m,
        std::function<void()> step);

  /// Returns the fastest method for m queries and k neighbours that is found within about `seconds`.
  TunedProblem measure(std::int64_t m, std::int64_t k, double seconds);

 private:
  struct Run;
  const Index& index_of(std::int64_t rows);
  SearchOptions options_of(const TunedWay& way) const;
  Run search(const Index& index, const Problem& problem, const TunedWay& way, double limit);
  bool grows_too_fast(const Problem& problem, const TunedWay& way, double limit, std::string& why);
  std::optional<double> time(const Problem& problem, const TunedWay& way, TunedProblem& result);
  std::vector<TunedWay> first_ways(const Problem& problem, const TunedWay& built_in) const;
  std::optional<TunedWay> planned(const Problem& problem, const TunedWay& way);
  std::vector<TunedWay> variants(const Problem& problem, const TunedWay& base);
  void decide(const Problem& problem, const TunedWay& built_in, TunedProblem& result);

  Device device_;
  DeviceInfo plain_;  ///< without earlier measurements
  Metric metric_;
  workloads::Rows train_, queries_;
  std::map<std::int64_t, Index> indexes_;  ///< of the first rows, by their number
  std::function<void()> step_;
  Neighbors expected_;
  std::vector<std::pair<TunedWay, double>> times_;
  double deadline_ = 0, least_ = 0;
};

/// All settings that decide what is measured, and on which device.
nlohmann::ordered_json asked_of(const DeviceInfo& info, const TuneGrid& grid, Metric metric);

/// Measures all problems of a grid in about `seconds`; each gets its share of the time that is left.
class TuneRun {
 public:
  /// Continues from what an earlier run of the same command left in `kept`, and notes it.
  /// Throws what KeptWork::load() does.
  TuneRun(const Device& device, TuneGrid grid, Metric metric, double seconds, KeptWork& kept, bool fresh);

  /// Returns the results in the order of the grid. Problems that were measured before are not measured again.
  /// Throws interrupted, and any error; results until then are kept.
  std::vector<TunedProblem> run();

 private:
  std::string how_far() const;
  void step();
  void take_up(bool fresh);
  void table(std::int64_t n, std::int64_t dims);
  void keep(const TunedProblem& problem);
  const TunedProblem* measured(const Problem& problem) const;

  const Device& device_;
  TuneGrid grid_;
  Metric metric_;
  KeptWork& kept_;
  ProgressBar bar_;
  std::size_t all_ = 0, left_ = 0;
  std::vector<TunedProblem> measured_;  ///< measured now and before, in no order
  std::vector<TunedProblem> problems_;  ///< in the order of the grid
  double start_ = 0, end_ = 0;          ///< now_seconds(), as if nothing had stopped the run
};

/// Returns the seconds of the steady clock.
double now_seconds();

/// Describes a method: `fused, 8 lists, query tile 256`.
std::string way_text(const TuningEntry& entry);

}  // namespace kith::command
