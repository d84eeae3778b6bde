// A search whose candidates are proposed, thinned by bounds, and ranked by the chain at the end.
// docs/certificate.md, section 5.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "certified/proposal.hpp"
#include "certified/shadow.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "tiles/tiles.hpp"
#include "tiles/workspace.hpp"

namespace kith {

class BoundedSearch {
 public:
  /// Throws out_of_memory.
  BoundedSearch(const Index::State& index, const Plan& plan, float query_scale);

  /// Of a query tile.
  std::int64_t steps() const { return steps_; }

  /// The k nearest of the `count` queries in `workspace`, into its result. Locks the device. Queries whose
  /// lists are too short, or for which a guess was wrong, are asked once more, with the bounds that were
  /// reached, longer lists and steps too short to fill them, unless they are many; where they are, and there
  /// was a guess, all are asked again without one. Those that have more equally near rows than a list holds
  /// are returned, and must be searched otherwise.
  ///   queries    [count, dims], as they are in `workspace`
  ///   meanwhile  see pipeline.hpp; empty afterwards
  std::vector<std::int64_t> run(MatrixView<const float> queries, Workspace& workspace, Watcher& watcher,
                                Trace* trace, std::function<void()>& meanwhile);

 private:
  struct Lost {
    std::vector<std::int64_t> queries;
    std::vector<float> theta;  ///< of each: what is known of it by now
  };

  static bool many(const Lost& lost, std::int64_t count);
  Lost ask_first(std::int64_t count, const Workspace& workspace, Watcher& watcher, Trace* trace,
                 std::function<void()>& meanwhile);
  Lost run_once(Way way, std::int64_t count, const std::vector<float>& theta, const Workspace& workspace,
                Watcher& watcher, Trace* trace, std::function<void()>& meanwhile) const;
  void run_sample(const Phase& phase, std::int64_t count, const Workspace& workspace, StepTimer& timer) const;
  void run_phase(const Phase& phase, bool guessed, std::int64_t count, const Workspace& workspace,
                 StepTimer& timer, Trace* trace) const;
  void end_chunk(std::size_t chunk, bool guessed, std::int64_t count, const Workspace& workspace,
                 StepTimer& timer, Trace* trace) const;
  std::vector<float> reached(std::int64_t count) const;
  std::int64_t listed(std::int64_t count, StepTimer& timer, const Trace* trace) const;

  const Index::State& index_;
  const Plan plan_;
  std::shared_ptr<const IndexShadow> shadow_;
  const Way planned_;
  Way way_;                   ///< guesses no more once many were wrong
  const std::int64_t steps_;  ///< of the planned way, which are what progress is counted in
  Proposal proposal_;
  float query_scale_;
};

}  // namespace kith
