// kith tune, problem after problem: what is measured is kept at once.
#pragma once

#include <vector>

#include "command/shared/kept.hpp"
#include "lab/tune/tune.hpp"

namespace kith::command {

/// All that decides what is measured, and on what.
nlohmann::ordered_json asked_of(const DeviceInfo& info, const TuneGrid& grid, Metric metric);

/// All problems of a grid, in about `seconds`: each has its share of what is left.
class TuneRun {
 public:
  /// Takes up what an earlier run of the same command left in `kept`, and says so.
  /// Throws what KeptWork::load() does.
  TuneRun(const Device& device, TuneGrid grid, Metric metric, double seconds, KeptWork& kept, bool fresh);

  /// In the order of the grid. What was measured before is not measured again.
  /// Throws interrupted, and what fails; what is measured until then is kept.
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
  std::vector<TunedProblem> measured_;  ///< this time and before, in no order
  std::vector<TunedProblem> problems_;  ///< in the order of the grid
  double start_ = 0, end_ = 0;          ///< of now_seconds(), as if nothing had stopped it
};

}  // namespace kith::command
