#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::PruneStep&) const {
  return {};
}

void Device::enqueue(const spi::PruneStep& step) {
  if (step.threshold.rows == 0 || step.lists.rows.cols == 0) return;
  const bool lanes = family_ == Family::lanes;
  // If there are few long lists, each gets a larger work-group, whose items take more places at a time. It
  // finishes sooner, since it waits for memory once for all that it takes.
  constexpr std::size_t long_list = 2048;
  const bool few = step.threshold.rows <= std::size_t{16} * info.compute_units;
  const bool large = few && step.lists.rows.cols > long_list;
  const std::size_t items = lanes ? 1 : large ? 256 : 64;
  launch_listing(step.lists, step.bounds, lanes ? "bound/prune_lanes.cl" : "bound/prune.cl",
                 lanes ? "" : define("GROUP", items) + define("EACH", large ? 16 : 4),
                 lanes ? "kith_prune_lanes" : "kith_prune",
                 Range{{items * step.threshold.rows, 1, 1}, {items, 1, 1}}, step.threshold);
}

}  // namespace kith::opencl
