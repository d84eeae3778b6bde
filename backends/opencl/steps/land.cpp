#include "device.hpp"
#include "kith/spi/refusals.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::LandStep& step) const {
  if (family_ == Family::lanes) return {};
  return {spi::refusal_of_block("rows", step.out, spi::rows_a_block), 0};
}

void Device::enqueue(const spi::LandStep& step) {
  const spi::RawRows& from = step.from;
  const std::uint32_t dims = step.out.dims, block = step.out.block;
  if (from.rows == 0 || dims == 0) return;
  const bool lanes = family_ == Family::lanes, some = step.columns.cols > 0, chosen = step.chosen.cols > 0,
             on_grid = step.grid.step != 0;
  const std::size_t items = lanes ? 1 : 256, tile = 32;  // land.cl
  const auto element = static_cast<std::size_t>(element_bytes(from.element));
  const bool aligned = from.first % element == 0 && from.stride % element == 0;
  const std::size_t blocks = divide_up(from.rows, block),
                    groups = lanes ? blocks : blocks * divide_up(dims, tile);
  const spi::Grid<std::uint32_t>& columns = some ? step.columns : step.found;
  const spi::Grid<std::uint32_t>& rows = chosen ? step.chosen : step.found;
  launch("land/land.cl",
         define("GROUP", items) + define("BLOCK", block) + define("ELEMENT", static_cast<int>(from.element)) +
             (aligned ? " -D ALIGNED" : "") + (some ? " -D COLUMNS" : "") + (chosen ? " -D CHOSEN" : "") +
             (on_grid ? " -D ON_GRID" : ""),
         "kith_land", Range{{groups * items, 1, 1}, {items, 1, 1}}, buffer_of(from.memory),
         cl_ulong{from.first}, cl_ulong{from.stride}, from.rows, from.cols, buffer_of(columns.memory),
         cl_ulong{columns.first}, buffer_of(rows.memory), cl_ulong{rows.first}, buffer_of(step.out.memory),
         cl_ulong{std::size_t{step.out.first} * dims}, dims, buffer_of(step.found.memory),
         cl_ulong{step.found.first}, step.first_row, step.grid.centre, step.grid.step, step.grid.scale);
}

}  // namespace kith::opencl
