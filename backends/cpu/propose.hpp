// What the kernels that propose candidates have in common. Included by kernels_*.cpp only, once KITH_ISA is
// defined.
#pragma once

#include "cpu/kernels.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Append the training rows t0 + lane for the lanes in `passed` to the list of a query. Other threads may
/// append to it meanwhile; what finds no place is only counted.
[[gnu::noinline]] void append_candidates(const Products& p, std::size_t q, std::size_t t0,
                                         std::uint32_t passed) {
  const auto many = static_cast<std::uint32_t>(__builtin_popcount(passed));
  std::size_t place = __atomic_fetch_add(p.counts + q * p.counts_stride, many, __ATOMIC_RELAXED);
  std::uint32_t* const rows = p.rows + q * p.rows_stride;
  for (; passed && place < p.capacity; passed &= passed - 1, ++place)
    rows[place] =
        p.first_row + static_cast<std::uint32_t>(t0) + static_cast<std::uint32_t>(__builtin_ctz(passed));
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
