#include "device.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::RecoverStep& step) const {
  if (family_ != Family::groups || !limits_.double_precision)
    return {"it prepares no rows for proposer int8, and has none to recover", 0};
  return {spi::refusal_of_block("rows", step.out, spi::rows_a_block), 0};
}

void Device::enqueue(const spi::RecoverStep& step) {
  const spi::RowBlocks& out = step.out;
  if (out.rows == 0) return;
  constexpr std::size_t items = 256, warp = 32, piece_dims = Lines::piece_bytes;
  const Lines lines(Proposer::int8, out.dims);
  const std::size_t pieces = divide_up(std::size_t{out.dims}, piece_dims),
                    warps = divide_up(std::size_t{out.rows}, std::size_t{spi::rows_a_block}) * pieces;
  launch("prepare/recover.cl", define("PIECES", lines.pieces), "kith_recover",
         Range{{divide_up(warps, items / warp) * items, 1, 1}, {items, 1, 1}},
         buffer_of(step.rows.rows.memory), cl_ulong{step.rows.rows.first * lines.row_pieces()},
         lines.row_pieces(), buffer_of(step.centre.memory), cl_ulong{step.centre.first}, 1.0f / step.scale,
         buffer_of(out.memory), cl_ulong{std::size_t{out.first} * out.dims}, out.rows, out.dims);
}

}  // namespace kith::opencl
