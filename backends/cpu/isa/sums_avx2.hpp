// Sums of products of bytes by AVX2, and their test. Only kernels_bytes_*avx2.cpp include this, after they
// define KITH_ISA.
#pragma once

#include <immintrin.h>

#include "cpu/steps/propose/propose.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// The sums of 8 rows, and of the next 8, with 32 bits each.
struct Sums {
  __m256i half[2];
};

/// Tests the products of a query with 16 training rows from `first` on.
inline void test(const Products& p, std::size_t q, std::size_t first, Sums sums) {
  if (q < p.query_begin || q >= p.query_end) return;
  const __m256 threshold = _mm256_set1_ps(p.threshold[q * p.threshold_stride]),
               unscale = _mm256_set1_ps(p.unscale);
  __m256 places[2];
  std::uint32_t passed = 0;
  for (int h = 0; h < 2; ++h) {
    places[h] = _mm256_fnmadd_ps(_mm256_cvtepi32_ps(sums.half[h]), unscale,
                                 _mm256_loadu_ps(p.low + first + 8 * static_cast<std::size_t>(h)));
    const __m256 at_most = _mm256_cmp_ps(places[h], threshold, _CMP_LE_OQ);
    passed |= static_cast<std::uint32_t>(_mm256_movemask_ps(at_most)) << 8 * h;
  }
  passed &= present(p, first);
  if (__builtin_expect(passed == 0, 1)) return;
  alignas(64) float lows[16];
  _mm256_store_ps(lows, places[0]);
  _mm256_store_ps(lows + 8, places[1]);
  append_candidates(p, q, first, passed, lows);
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
