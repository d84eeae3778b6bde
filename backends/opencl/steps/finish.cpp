#include <algorithm>

#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::FinishStep&) const {
  return {};
}

void Device::enqueue(const spi::FinishStep& step) {
  const auto k = static_cast<std::uint32_t>(step.distance.cols),
             width = static_cast<std::uint32_t>(step.keys.cols);
  const std::size_t queries = step.distance.rows;
  if (queries == 0 || k == 0) return;
  constexpr std::uint32_t group = 256;  // finish.cl
  const std::uint32_t at_once = std::max(1u, group / std::max(width, k));
  launch("finish/finish.cl", define("METRIC", name(step.metric)), "kith_finish",
         Range{{std::size_t{divide_up(queries, at_once)} * group, 1, 1}, {group, 1, 1}}, step.keys,
         step.distance, step.rows, step.places, step.numbers, cl_long{step.own}, cl_ulong{queries}, width, k,
         at_once);
}

}  // namespace kith::opencl
