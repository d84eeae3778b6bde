#include <algorithm>
#include <bit>

#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::ScoreStep&) const {
  return {};
}

void Device::enqueue(const spi::ScoreStep& step) {
  const std::size_t rows = step.nearest.rows;
  if (rows == 0) return;
  const auto items =
      family_ == Family::lanes ? 1 : std::min<std::size_t>(256, std::bit_floor(limits_.work_group));
  // The team is as wide as there are neighbours to add or classes to set to 0.
  const std::size_t team = std::clamp<std::size_t>(
      std::bit_ceil(std::max<std::size_t>(step.nearest.cols, step.classes)), 1, items);
  const std::size_t groups = (rows + items / team - 1) / (items / team);
  launch("vote/score.cl", define("GROUP", items) + define("TEAM", team), "kith_score",
         Range{{groups * items, 1, 1}, {items, 1, 1}}, step.nearest, static_cast<cl_uint>(rows),
         static_cast<cl_uint>(step.nearest.cols), step.weights, buffer_of(step.labels.memory),
         cl_ulong{step.labels.first}, step.classes, step.sums);
}

}  // namespace kith::opencl
