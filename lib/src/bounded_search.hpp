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
  /// Throws out_of_memory.
  BoundedSearch(const Index::State& index, const Plan& plan, float largest_query);

  /// Steps of a query tile, for a Watcher.
  std::int64_t steps() const { return static_cast<std::int64_t>(phases_.size()); }

  /// The k nearest of the `count` queries in `workspace`, into its result. Locks the device. Queries whose
  /// lists are too short have no more than k rows there, and other bounds to begin with when they are asked
  /// once more; those whose lists are too short even then are returned, and must be searched otherwise.
  ///   queries  [count, dims], as they are in `workspace`
  std::vector<std::int64_t> run(MatrixView<const float> queries, Workspace& workspace, Watcher& watcher,
                                Trace* trace) const;

 private:
  struct Lost {
    std::vector<std::int64_t> queries;
    std::vector<float> theta;  ///< of each: what is known of it by now
  };

  Lost run_once(std::int64_t count, const std::vector<float>& theta, const Workspace& workspace,
                Watcher& watcher, Trace* trace) const;
  void run_phase(const Phase& phase, std::int64_t count, const Workspace& workspace, Trace* trace) const;
  void end_chunk(std::size_t chunk, std::int64_t count, const Workspace& workspace, StepTimer& timer,
                 Trace* trace) const;
  std::int64_t listed(std::int64_t count, StepTimer& timer, const Trace* trace) const;

  const Index::State& index_;
  const Plan plan_;
  const std::vector<Phase> phases_;
  std::shared_ptr<const IndexShadow> shadow_;
  Proposal proposal_;
  float query_scale_;
};

}  // namespace kith
