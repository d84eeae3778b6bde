// Queries searched by the chain alone: all of a search, or what other attempts left open.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "certified/bounded_search.hpp"
#include "device/watcher.hpp"
#include "kith/trace.hpp"
#include "rows/resident_rows.hpp"
#include "rows/row_filter.hpp"
#include "tiles/tiles.hpp"
#include "tiles/workspace.hpp"

namespace kith {

class ExactSearch {
 public:
  /// A plan without a proposer. All of these live longer.
  ExactSearch(const ResidentRows& index, const Plan& plan, const DeviceFilter& filter)
      : index_(index), plan_(plan), filter_(filter), tiles_(train_tiles(index, plan)) {}

  /// Of a query tile.
  std::int64_t steps() const { return static_cast<std::int64_t>(tiles_.size()); }

  /// The k nearest of the first `count` queries in `workspace`, into its result. Locks the device.
  ///   overlap  see pipeline.hpp; empty afterwards
  void run(std::int64_t count, const Workspace& workspace, Watcher& watcher, Trace* trace,
           std::function<void()>& overlap) const;

 private:
  const ResidentRows& index_;
  const Plan& plan_;
  const DeviceFilter& filter_;
  const std::vector<Tile> tiles_;
};

/// Of the chain for what is left of a search by `plan`, while that holds its memory.
PlanOptions options_for_rest(const ResidentRows& index, const Plan& plan, const PlanOptions& options);

/// Search the open queries of a tile by a plan of their own, in memory of their own, and put their keys where
/// those of the tile are. Throws what planning and searching throw.
///   plan      whose other attempts left them
///   options   with the filter of the open queries
///   queries   [count, dims]  of the tile
///   proposer  of the plan of their own; none: the chain alone
/// Returns how many queries the proposer left to the chain.
std::int64_t search_rest(const ResidentRows& index, const Plan& plan, const PlanOptions& options,
                         MatrixView<const float> queries, const Open& open, Proposer proposer,
                         const Workspace& workspace, Trace* trace);

}  // namespace kith
