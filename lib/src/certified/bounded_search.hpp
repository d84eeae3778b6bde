// A search whose candidates are proposed, thinned by bounds, and ranked by the chain at the end.
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
#include "tiles/tiles.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// Queries of a tile that are not answered yet.
struct Open {
  std::vector<std::int64_t> queries;
  std::vector<float> threshold;  ///< of each: what is known of it by now; empty: none was asked yet
};

/// What the quantized queries of a search are.
struct QueryForm {
  float scale = 1;
  spi::OnGrid on_grid = spi::OnGrid::no;
  bool takes_products = false;  ///< takes_products() says so
};

/// Whether the device takes the chains of candidates from products, where the queries lie on the grid of the
/// training rows: Plan::exact_products.
bool takes_products(const ResidentRows& index, const IndexQuantizedRows& train, spi::OnGrid queries);

class BoundedSearch {
 public:
  /// Throws out_of_memory.
  ///   filter  of the search, which a plan that masks goes by
  ///   trace   is told what it takes to heed it; may be null
  BoundedSearch(const ResidentRows& index, const Plan& plan, const QueryForm& form,
                const DeviceFilter& filter, Trace* trace);

  /// What is known of the queries of the next tile; lists then have FoundBefore::keys() among their keys.
  void begin_with(const FoundBefore& known) { known_ = known; }

  /// Of the first attempt at a query tile.
  std::int64_t steps() const { return steps_; }

  /// Count what is ranked from now on, or no more, for which the device is waited for.
  void count_ranked(bool counts) {
    counts_ranked_ = counts;
    ranked_ = 0;
  }
  /// Candidates that were ranked since then.
  std::int64_t ranked() const { return ranked_; }
  /// Whether products of its queries and rows are exact.
  bool is_exact() const {
    return form_.on_grid == spi::OnGrid::exactly && quantized_->on_grid() == spi::OnGrid::exactly;
  }

  /// Whether the host has the rows: the chain alone cannot search them on the device.
  bool rows_elsewhere() const { return quantized_->elsewhere() != nullptr; }

  /// Ask the queries of a tile, which are in `workspace`, or the open ones of them, by an attempt of the plan
  /// that is not `exact`: their nearest go into its result. Returns those whose lists were too short, or for
  /// which a guess was wrong. Locks the device.
  ///   queries    [count, dims], as they are in `workspace`
  ///   overlap  see pipeline.hpp; empty afterwards
  Open ask(const Attempt& attempt, MatrixView<const float> queries, const Open& open, Workspace& workspace,
           Watcher& watcher, Trace* trace, std::function<void()>& overlap);

 private:
  Open ask_open(const Attempt& attempt, MatrixView<const float> queries, const Open& open,
                Workspace& workspace, Watcher& watcher, Trace* trace, std::function<void()>& overlap);
  Open run(const Attempt& attempt, std::int64_t count, const std::vector<float>& threshold,
           const Workspace& workspace, Watcher& watcher, Trace* trace, std::function<void()>& overlap) const;
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
  const std::int64_t steps_;  ///< what progress is counted in
  Proposal proposal_;
  QueryForm form_;
  /// Where the host ranks.
  struct OnHost {
    OnHost(const ResidentRows& index, const Plan& plan, const RowsElsewhere& rows)
        : ranking(index.metric, rows, form_for(index, plan.proposer).centre, plan.threads),
          lists(*index.device.state(), plan) {}
    HostRanking ranking;
    ListReader lists;
  };
  std::unique_ptr<OnHost> on_host_;  ///< null: the device does
  bool counts_ranked_ = false;
  mutable std::int64_t ranked_ = 0;
  MatrixView<const float> asked_;  ///< the queries in the workspace
  FoundBefore known_;              ///< of all queries of the tile
  std::vector<Key> first_;         ///< [asked_, k]  their lists to begin with; empty: nothing is known
};

}  // namespace kith
