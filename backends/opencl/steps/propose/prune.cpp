#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::PruneStep&) const {
  return {};
}

void Device::enqueue(const spi::PruneStep& step) {
  if (step.threshold.rows == 0 || step.lists.rows.cols == 0) return;
  const bool lanes = family_ == Family::lanes;
  // If there are few long lists, each gets a larger work-group, which finishes sooner.
  constexpr std::size_t long_list = 2048;
  const bool few = step.threshold.rows <= std::size_t{16} * info.compute_units;
  const std::size_t items = lanes ? 1 : few && step.lists.rows.cols > long_list ? 256 : 64;
  launch_listing(step.lists, step.bounds, lanes ? "bound/prune_lanes.cl" : "bound/prune.cl",
                 lanes ? "" : define("GROUP", items), lanes ? "kith_prune_lanes" : "kith_prune",
                 Range{{items * step.threshold.rows, 1, 1}, {items, 1, 1}}, step.threshold);
}

}  // namespace kith::opencl
