// A search whose candidates are proposed, thinned by bounds, and ranked by the chain at the end.
// docs/certificate.md, section 5.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "pipeline.hpp"
#include "proposal.hpp"
#include "tiles.hpp"
#include "timing.hpp"
#include "watcher.hpp"

namespace kith {

class BoundedSearch {
 public:
  /// How much longer lists are where they were too short, which no more than one query in so many may find.
  static constexpr std::int64_t longer = 4;

  /// Throws out_of_memory.
  BoundedSearch(const Index::State& index, const Plan& plan, float query_scale);

  /// Of a query tile.
  std::int64_t steps() const { return static_cast<std::int64_t>(phases_.size()); }

  /// The k nearest of the `count` queries in `workspace`, into its result. Locks the device. Queries whose
  /// lists are too short are asked once more, with the bounds that were reached, longer lists and steps
  /// too short to fill them, unless they are many; those that have more equally near rows than a list holds
  /// are returned, and must be searched otherwise.
  ///   queries  [count, dims], as they are in `workspace`
  std::vector<std::int64_t> run(MatrixView<const float> queries, Workspace& workspace, Watcher& watcher,
                                Trace* trace);

 private:
  struct Lost {
    std::vector<std::int64_t> queries;
    std::vector<float> theta;  ///< of each: what is known of it by now
  };

  /// Progress is that of the first.
  enum class Pass { first, again };

  Lost run_once(std::int64_t count, const std::vector<float>& theta, const Workspace& workspace,
                Watcher& watcher, Pass pass, Trace* trace) const;
  void run_phase(const Phase& phase, std::int64_t count, const Workspace& workspace, StepTimer& timer,
                 Trace* trace) const;
  void end_chunk(std::size_t chunk, std::int64_t count, const Workspace& workspace, StepTimer& timer,
                 Trace* trace) const;
  std::int64_t listed(std::int64_t count, StepTimer& timer, const Trace* trace) const;

  const Index::State& index_;
  const Plan plan_;
  const std::vector<Phase> phases_, short_phases_;  ///< the short ones see no more rows than lists hold
  std::shared_ptr<const IndexShadow> shadow_;
  Proposal proposal_;
  float query_scale_;
};

}  // namespace kith
