#include <algorithm>

#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::AccumulateStep&) const {
  return {};
}

void Device::enqueue(const spi::AccumulateStep& step) {
  const std::size_t rows = step.distances.rows;
  if (rows == 0 || step.distances.cols == 0) return;
  const bool lanes = family_ == Family::lanes;
  constexpr std::uint32_t group = 64, lane_queries = 16;
  const std::uint32_t groups = divide_up(rows, lanes ? lane_queries : group);
  // Classes are divided into parts if queries alone leave compute units idle.
  const std::uint32_t parts =
      lanes ? 1 : std::clamp(divide_up(std::uint64_t{8} * info.compute_units, groups), 1u, step.classes);
  const std::size_t items = lanes ? 1 : group;
  launch("classes/accumulate.cl", lanes ? " -D LANES" : define("GROUP", group),
         lanes ? "kith_accumulate_lanes" : "kith_accumulate",
         Range{{groups * items, parts, 1}, {items, 1, 1}}, step.distances, static_cast<cl_uint>(rows),
         static_cast<cl_uint>(step.distances.cols), buffer_of(step.labels.memory),
         cl_ulong{step.labels.first}, parts, step.smallest, step.high, step.low);
}

}  // namespace kith::opencl
