// A certified search: a proposer lists candidates, bounds exclude some of them, and the chain ranks the rest.
// docs/certificate.md, section 5.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "certified/found_before.hpp"
#include "certified/host_ranking.hpp"
#include "certified/list_reader.hpp"
#include "certified/masked_rows.hpp"
#include "certified/proposal.hpp"
#include "certified/quantized_rows.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "rows/queries/query_rows.hpp"
#include "tiles/tiles.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// The queries of a tile that are not yet answered.
struct Open {
  std::vector<std::int64_t> queries;
  std::vector<float> threshold;  ///< [queries] their current thresholds; empty before the first attempt
};

/// How the queries of a search are quantized.
struct QueryForm {
  float scale = 1;
  spi::OnGrid on_grid = spi::OnGrid::no;
  bool takes_products = false;  ///< the value of takes_products()
};

/// Returns whether the device computes the chains of candidates from products, because the queries are on the
/// grid of the training rows: Plan::exact_products.
///   elsewhere  the rows are not on the device
bool takes_products(const ResidentRows& index, spi::OnGrid rows, spi::OnGrid queries, bool elsewhere);

class BoundedSearch {
 public:
  /// Throws out_of_memory.
  ///   filter  of the search; heeded by a plan that masks
  ///   trace   gets the time that this takes; may be null
  BoundedSearch(const ResidentRows& index, const Plan& plan, const QueryForm& form,
                const DeviceFilter& filter, Trace* trace);

  /// Sets the known thresholds of the queries of the next tile. Lists then also contain FoundBefore::keys().
  void begin_with(const FoundBefore& known) { known_ = known; }

  /// Returns the number of steps of the first attempt at a query tile.
  std::int64_t steps() const { return steps_; }

  /// Starts or stops counting ranked candidates. Counting waits for the device.
  void count_ranked(bool counts) {
    counts_ranked_ = counts;
    ranked_ = 0;
  }
  /// Returns the number of candidates ranked since counting began.
  std::int64_t ranked() const { return ranked_; }
  /// Returns whether products of its queries and rows are exact.
  bool is_exact() const {
    return form_.on_grid == spi::OnGrid::exactly && quantized_->on_grid() == spi::OnGrid::exactly;
  }

  /// Returns whether the rows are not on the device, so that the chain cannot search them there.
  bool rows_elsewhere() const { return quantized_->elsewhere() != nullptr; }

  /// Makes one attempt of the plan, other than `exact`: for all queries of the tile, or after the first
  /// attempt for the open ones. Writes their nearest rows into the workspace's result. Returns the queries
  /// whose lists overflowed or whose guess was wrong. Locks the device.
  ///   queries  [count, dims], as they are in `workspace`
  ///   overlap  see pipeline.hpp; empty afterwards
  Open ask(const Attempt& attempt, const QueryRows& queries, const Open& open, Workspace& workspace,
           Watcher& watcher, Trace* trace, std::function<void()>& overlap);

 private:
  Open ask_open(const Attempt& attempt, const QueryRows& queries, const Open& open, Workspace& workspace,
                Watcher& watcher, Trace* trace, std::function<void()>& overlap);
  Open run_attempt(const Attempt& attempt, std::int64_t count, const std::vector<float>& threshold,
                   Workspace& workspace, Watcher& watcher, Trace* trace,
                   std::function<void()>& overlap) const;
  void run_sample(const Phase& phase, std::int64_t count, const Workspace& workspace, StepTimer& timer) const;
  void run_phase(const Phase& phase, bool guessed, std::int64_t count, const Workspace& workspace,
                 StepTimer& timer, Trace* trace) const;
  void collect(const Phase& phase, std::int64_t count, const Workspace& workspace) const;
  float unscale() const { return 1 / form_.scale / quantized_->scale(); }
  void begin(const std::vector<float>& threshold, std::int64_t count, const Workspace& workspace,
             StepTimer& timer) const;
  void rank(const Phase& phase, bool guessed, std::int64_t count, const Workspace& workspace,
            StepTimer& timer, Trace* trace) const;
  void rank_on_host(std::int64_t count, std::size_t width, StepTimer& timer, Trace* trace) const;
  spi::RowBlocks rows_of(std::size_t chunk) const;
  std::vector<float> reached(std::int64_t count) const;
  std::int64_t listed(std::int64_t count, StepTimer& timer, const Trace* trace) const;

  const ResidentRows& index_;
  const Plan plan_;
  std::shared_ptr<const IndexQuantizedRows> quantized_;
  const MaskedRows rows_;
  const std::int64_t steps_;  ///< the unit in which progress is counted
  Proposal proposal_;
  QueryForm form_;
  /// Ranks candidates on the host.
  struct OnHost {
    OnHost(const ResidentRows& index, const Plan& plan, const RowsElsewhere& rows)
        : ranking(index.metric, rows, form_for(index, plan.proposer).centre, plan.threads),
          lists(*index.device.state(), plan) {}
    HostRanking ranking;
    ListReader lists;
  };
  std::unique_ptr<OnHost> on_host_;  ///< null: the device ranks
  bool counts_ranked_ = false;
  mutable std::int64_t ranked_ = 0;
  QueryRows asked_;         ///< the queries in the workspace
  FoundBefore known_;       ///< thresholds of all queries of the tile
  std::vector<Key> first_;  ///< [asked_, k]  initial lists; empty: nothing is known
};

}  // namespace kith
