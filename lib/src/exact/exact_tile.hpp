// Searches by the chain: distance, select and merge for each training tile; or nearest, which is the first
// two in one step.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "device/watcher.hpp"
#include "kith/spi.hpp"
#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "rows/row_filter.hpp"
#include "tiles/tiles.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// Make the steps of one training tile, for running, and for checking with null memory.
spi::Step distance_step(const Plan& plan, const spi::RowBlocks& queries, const spi::RowBlocks& train,
                        const spi::Grid<float>& out);
spi::Step select_step(const Plan& plan, const spi::Grid<float>& distances, std::uint32_t first_row,
                      const TileLists& lists, const spi::Scratch& scratch);
spi::Step nearest_step(const Plan& plan, const spi::RowBlocks& queries, const spi::RowBlocks& train,
                       std::uint32_t first_row, const TileLists& lists, const spi::Scratch& scratch);
spi::Step merge_step(const Plan& plan, const TileLists& lists, const spi::Scratch& scratch);

/// Searches by the chain alone, one training tile after another.
class ExactSearch {
 public:
  /// Takes a plan without a proposer. All arguments must outlive this.
  ExactSearch(const ResidentRows& index, const Plan& plan, const DeviceFilter& filter)
      : index_(index), plan_(plan), filter_(filter), tiles_(train_tiles(index, plan)) {}

  /// Returns the number of steps of a query tile.
  std::int64_t steps() const { return static_cast<std::int64_t>(tiles_.size()); }

  /// Finds the k nearest rows of the first `count` queries in `workspace`, and writes them to its result.
  /// Locks the device.
  ///   overlap  called once while the device works; empty afterwards
  void find_nearest(std::int64_t count, const Workspace& workspace, Watcher& watcher, Trace* trace,
                    std::function<void()>& overlap) const;

 private:
  const ResidentRows& index_;
  const Plan& plan_;
  const DeviceFilter& filter_;
  const std::vector<Tile> tiles_;
};

}  // namespace kith
