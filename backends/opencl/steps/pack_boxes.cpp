#include "device.hpp"

namespace kith::opencl {

namespace {

// These are the constants of pack_boxes.cl.
constexpr std::uint32_t halving_group = 256;
constexpr std::size_t halving_bytes =
    spi::part_rows * sizeof(Key) +
    (halving_group + halving_group / spi::most_curve_columns) * sizeof(cl_uint);

}  // namespace

spi::Support Device::check(const spi::PackBoxesStep&) const {
  if (limits_.work_group >= halving_group && limits_.local_memory_bytes >= halving_bytes) return {};
  return {"halving parts of rows takes work-groups of " + std::to_string(halving_group) + " and " +
              std::to_string(halving_bytes) + " bytes of local memory, but the device has " +
              std::to_string(limits_.work_group) + " and " + std::to_string(limits_.local_memory_bytes) +
              "; let the host make boxes",
          0};
}

void Device::enqueue(const spi::PackBoxesStep& step) {
  const auto p = static_cast<std::uint32_t>(step.numbers.cols);
  if (p == 0) return;
  const std::uint32_t dims = step.rows.front().dims, leaves = spi::boxes_of_level(p, 0);
  constexpr std::size_t items = 64;
  std::uint32_t number = 0;
  for (const spi::RowBlocks& part : step.rows) {
    if (part.rows == 0) continue;
    launch("boxes/pack_boxes.cl", define("BLOCK", part.block), "kith_pack_rows",
           Range{{std::size_t{leaves} * spi::box_rows, 1, 1}, {items, 1, 1}}, buffer_of(part.memory),
           part.first, part.rows, number, dims, buffer_of(step.numbers.memory), cl_ulong{step.numbers.first},
           p, buffer_of(step.packed.memory), cl_ulong{step.packed.first});
    number += part.rows;
  }
  if (step.bounds.cols == 0) return;
  launch("boxes/pack_boxes.cl", define("BLOCK", 1), "kith_halve_parts",
         Range{{std::size_t{divide_up(p, spi::part_rows)} * halving_group, 1, 1}, {halving_group, 1, 1}},
         buffer_of(step.packed.memory), cl_ulong{step.packed.first}, buffer_of(step.numbers.memory),
         cl_ulong{step.numbers.first}, p, dims);
  const std::size_t line = std::size_t{dims} * spi::box_rows;
  spi::Grid<float> inside = step.packed;
  std::size_t inside_block = line, largest = 0;
  std::uint32_t below = p;
  for (std::uint32_t level = 0; level < spi::box_levels(p); ++level) {
    const std::uint32_t boxes = spi::boxes_of_level(p, level);
    const std::size_t first = step.bounds.first + spi::blocks_before_level(p, level) * step.bounds.stride;
    launch("boxes/pack_boxes.cl", define("BLOCK", 1), "kith_bound_boxes",
           Range{{boxes, dims, 1}, {items, 1, 1}}, buffer_of(inside.memory), cl_ulong{inside.first},
           cl_ulong{inside_block}, cl_ulong{largest}, below, boxes, dims, buffer_of(step.bounds.memory),
           cl_ulong{first}, cl_ulong{step.bounds.stride});
    inside = {step.bounds.memory, first, 1, 1, 1};
    inside_block = step.bounds.stride;
    largest = line;
    below = boxes;
  }
}

}  // namespace kith::opencl
