// What the kernels that propose candidates share. Only kernels_*.cpp include this, after they
// define KITH_ISA.
#pragma once

#include "cpu/isa/kernels.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Computes spi::Bounds::high of a row from the value that was compared with the threshold:
/// docs/certificate.md, section 4.
inline std::uint64_t high_key(float low, float gap, std::uint32_t row) {
  const float rounding = (low < 0 ? -low : low) * 0x1p-22f;
  const float high = low + (gap + rounding) + 0.0f;  // -0 becomes +0
  std::uint32_t code;
  __builtin_memcpy(&code, &high, sizeof code);
  code = code >> 31 ? ~code : code | 0x80000000u;           // as ordered() does
  return static_cast<std::uint64_t>(code + 1) << 32 | row;  // the next float, because `high` was rounded
}

/// Returns a mask of those lanes of 16 training rows from `first` on that are rows of the task.
inline std::uint32_t present(const Products& p, std::size_t first) {
  std::uint32_t lanes = 0xFFFFu;
  if (first < p.train_begin) lanes &= 0xFFFFu << (p.train_begin - first);
  if (first + 16 > p.train_end) lanes &= 0xFFFFu >> (first + 16 - p.train_end);
  return lanes;
}

/// Appends the training rows t0 + lane for the lanes in `passed` to the list of a query. Other threads may
/// append to it at the same time; rows for which there is no room are only counted.
///   lows  [16] the values that were compared with the threshold
[[gnu::noinline]] void append_candidates(const Products& p, std::size_t q, std::size_t t0,
                                         std::uint32_t passed, const float* lows) {
  const auto many = static_cast<std::uint32_t>(__builtin_popcount(passed));
  std::size_t place = __atomic_fetch_add(p.counts + q * p.counts_stride, many, __ATOMIC_RELAXED);
  for (; passed && place < p.capacity; passed &= passed - 1, ++place) {
    const auto lane = static_cast<std::uint32_t>(__builtin_ctz(passed));
    const std::uint32_t row = p.first_row + static_cast<std::uint32_t>(t0) + lane;
    p.rows[q * p.rows_stride + place] = row;
    if (!p.lows) continue;
    p.lows[q * p.lows_stride + place] = lows[lane];
    p.highs[q * p.highs_stride + place] = high_key(lows[lane], p.gap[t0 + lane], row);
  }
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
