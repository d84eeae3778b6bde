// One training tile by the chain: distance, select, merge; or nearest, which is the first two in one step.
#pragma once

#include "device/timing.hpp"
#include "kith/plan.hpp"
#include "kith/spi.hpp"
#include "rows/resident_rows.hpp"
#include "rows/row_filter.hpp"
#include "tiles/tiles.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// The steps of one training tile, for checking (with null memory) and for running alike.
spi::Step distance_step(const Plan& plan, const spi::RowBlocks& queries, const spi::RowBlocks& train,
                        const spi::Grid<float>& out);
spi::Step select_step(const Plan& plan, const spi::Grid<float>& distances, std::uint32_t first_row,
                      const TileLists& lists, const spi::Scratch& scratch);
spi::Step nearest_step(const Plan& plan, const spi::RowBlocks& queries, const spi::RowBlocks& train,
                       std::uint32_t first_row, const TileLists& lists, const spi::Scratch& scratch);
spi::Step merge_step(const Plan& plan, const TileLists& lists, const spi::Scratch& scratch);

/// Enqueue the steps of tile number `number`, counted from 0, for the first `count` queries in `workspace`.
/// The caller holds the device's lock.
///   last  its result is the result of the search
void run_tile(const ResidentRows& index, const Plan& plan, const Tile& tile, std::int64_t number, bool last,
              std::int64_t count, const Workspace& workspace, const DeviceFilter& filter, StepTimer& timer);

}  // namespace kith
