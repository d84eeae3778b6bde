#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::UnitStep&) const {
  if (limits_.double_precision) return {};
  return {
      "it has no double precision (cl_khr_fp64), in which rows are divided by their norms; let the host do "
      "it",
      0};
}

void Device::enqueue(const spi::UnitStep& step) {
  const spi::RowBlocks& rows = step.rows;
  if (rows.rows == 0 || rows.dims == 0) return;
  const std::size_t items = 64;
  launch("land/unit.cl", define("BLOCK", rows.block), "kith_unit", Range{{rows.rows, 1, 1}, {items, 1, 1}},
         buffer_of(rows.memory), cl_ulong{std::size_t{rows.first} * rows.dims}, rows.rows, rows.dims,
         buffer_of(step.found.memory), cl_ulong{step.found.first}, step.first_row);
}

}  // namespace kith::opencl
