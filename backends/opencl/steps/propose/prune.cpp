#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::PruneStep&) const {
  return {};
}

void Device::enqueue(const spi::PruneStep& step) {
  if (step.threshold.rows == 0 || step.lists.rows.cols == 0) return;
  const bool lanes = family_ == Family::lanes;
  // If there are few long lists, each gets a larger work-group, which finishes sooner. With a compute unit
  // for each, its items take more places at a time, since it waits for memory once for all that it takes.
  constexpr std::size_t long_list = 2048;
  const std::size_t rows = step.threshold.rows;
  const bool large = step.lists.rows.cols > long_list && rows <= std::size_t{16} * info.compute_units;
  const std::size_t items = lanes ? 1 : large ? 256 : 64, each = large && rows <= info.compute_units ? 16 : 4;
  launch_listing(
      step.lists, step.bounds, lanes ? "bound/prune_lanes.cl" : "bound/prune.cl",
      lanes ? "" : define("GROUP", items) + define("EACH", each) + (step.only_rows ? " -D ONLY_ROWS" : ""),
      lanes ? "kith_prune_lanes" : "kith_prune", Range{{items * rows, 1, 1}, {items, 1, 1}}, step.threshold);
}

}  // namespace kith::opencl
