// Makes bytes of training rows, and adds the squares of what is lost: docs/certificate.md, section 2.
// Only kernels_source.hpp includes this. Its loops have no branches, so that they vectorise. It adds the
// numbers that prepare.cpp adds, in the same order.
#pragma once

#include "cpu/isa/kernels.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Rounds `some` dimensions of all rows, from `d` on: as many as stand side by side, or the last ones.
template <std::size_t some>
[[gnu::always_inline]] inline void some_to_bytes(const RowsToBytes& of, std::size_t d) {
  const Lanes whole = all(0x1.8p23f);  // a float of this size has no fraction
  const double unscale = of.unscale;
  double* const __restrict moved = of.moved, * const __restrict quantized = of.quantized, * const __restrict residual = of.residual;
  alignas(64) std::int32_t words[train_block] = {};
#pragma GCC unroll 4
  for (std::size_t i = 0; i < some; ++i) {
    const Lanes x = load(of.rows + (d + i) * train_block), c = all(of.centre[d + i]);
    const Lanes moved_by = x - c, taken = x - moved_by;
    const Lanes within = fmin(fmax(moved_by * all(of.scale), all(of.least)), all(of.most));
    alignas(64) float near[train_block], error[train_block], byte[train_block];
    store(near, moved_by);
    store(error, (x - (moved_by + taken)) - (c - taken));
    store(byte, (within + whole) - whole);
    for (std::size_t r = 0; r < train_block; ++r) {
      const auto to = static_cast<double>(near[r]), off = static_cast<double>(error[r]);
      const double meant = static_cast<double>(byte[r]) * unscale, apart = to - meant + off;
      moved[r] += (to + off) * (to + off);
      quantized[r] += meant * meant;
      residual[r] += apart * apart;
    }
    for (std::size_t r = 0; r < train_block; ++r)
      words[r] |= (static_cast<std::int32_t>(byte[r]) & 0xFF) << (8 * i);
  }
  __builtin_memcpy(of.out + d * train_block, words, sizeof words);
}

void rows_to_bytes(const RowsToBytes& of) {
  const std::size_t whole = of.dims / byte_dims * byte_dims;
  for (std::size_t d = 0; d < whole; d += byte_dims) some_to_bytes<byte_dims>(of, d);
  if (of.dims - whole == 3) some_to_bytes<3>(of, whole);
  if (of.dims - whole == 2) some_to_bytes<2>(of, whole);
  if (of.dims - whole == 1) some_to_bytes<1>(of, whole);
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
