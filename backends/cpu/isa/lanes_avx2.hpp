// 16 floats, one for each row of a training block: AVX2 and FMA, two registers. Only kernels_avx2.cpp
// includes this, so that it stays in one object file.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace kith::cpu::KITH_ISA {
namespace {

struct Lanes {
  __m256 low, high;
};
using Mask = Lanes;  // all bits of a lane, or none

/// The most queries and accumulators of a tile: as many as fit into the 16 registers beside the operands.
constexpr int most_queries = 4, most_accumulators = 4;
/// How many 64-bit numbers an instruction compares; 0: none does.
constexpr std::size_t key_lanes = 4;
/// Tiles are compiled for each number of dimensions up to this.
constexpr int most_fixed_dims = 4;

inline Lanes load(const float* from) {
  return {_mm256_loadu_ps(from), _mm256_loadu_ps(from + 8)};
}
inline void store(float* to, Lanes a) {
  _mm256_storeu_ps(to, a.low);
  _mm256_storeu_ps(to + 8, a.high);
}
inline Lanes all(float value) {
  return {_mm256_set1_ps(value), _mm256_set1_ps(value)};
}
inline Lanes operator+(Lanes a, Lanes b) {
  return {_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}
inline Lanes operator-(Lanes a, Lanes b) {
  return {_mm256_sub_ps(a.low, b.low), _mm256_sub_ps(a.high, b.high)};
}
inline Lanes operator*(Lanes a, Lanes b) {
  return {_mm256_mul_ps(a.low, b.low), _mm256_mul_ps(a.high, b.high)};
}
inline Lanes operator-(Lanes a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_xor_ps(a.low, sign), _mm256_xor_ps(a.high, sign)};
}
inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
}
inline Lanes fabs(Lanes a) {
  const __m256 sign = _mm256_set1_ps(-0.0f);
  return {_mm256_andnot_ps(sign, a.low), _mm256_andnot_ps(sign, a.high)};
}
inline Lanes fmax(Lanes a, Lanes b) {
  return {_mm256_max_ps(a.low, b.low), _mm256_max_ps(a.high, b.high)};
}

/// Returns the number of ones in each 32 bits, as a float. Counts for half bytes are looked up (Mula 2008).
inline __m256 count_bits(__m256i words) {
  const __m256i counts = _mm256_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,  //
                                          0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4);
  const __m256i low_half = _mm256_set1_epi8(0x0F);
  const __m256i low = _mm256_shuffle_epi8(counts, _mm256_and_si256(words, low_half));
  const __m256i high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi32(words, 4), low_half));
  const __m256i pairs = _mm256_maddubs_epi16(_mm256_add_epi8(low, high), _mm256_set1_epi8(1));
  return _mm256_cvtepi32_ps(_mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
/// Returns the number of bits of each pair that differ, as a float.
inline Lanes bits_apart(Lanes a, Lanes b) {
  return {count_bits(_mm256_castps_si256(_mm256_xor_ps(a.low, b.low))),
          count_bits(_mm256_castps_si256(_mm256_xor_ps(a.high, b.high)))};
}
/// Returns the number of bits that are 1 in both of each pair, as a float.
inline Lanes ones_both(Lanes a, Lanes b) {
  return {count_bits(_mm256_castps_si256(_mm256_and_ps(a.low, b.low))),
          count_bits(_mm256_castps_si256(_mm256_and_ps(a.high, b.high)))};
}

/// Returns the lanes that are numbers, and 0 where they are NaN.
inline Lanes known(Lanes a) {
  return {_mm256_and_ps(_mm256_cmp_ps(a.low, a.low, _CMP_ORD_Q), a.low),
          _mm256_and_ps(_mm256_cmp_ps(a.high, a.high, _CMP_ORD_Q), a.high)};
}
/// Returns 1 in lanes that are numbers, and 0 where they are NaN.
inline Lanes is_known(Lanes a) {
  const __m256 one = _mm256_set1_ps(1);
  return {_mm256_and_ps(_mm256_cmp_ps(a.low, a.low, _CMP_ORD_Q), one),
          _mm256_and_ps(_mm256_cmp_ps(a.high, a.high, _CMP_ORD_Q), one)};
}

/// Returns 1 in lanes that are above 0; others, which are 0 or NaN, as they are.
inline Lanes above_0(Lanes a) {
  const __m256 none = _mm256_setzero_ps(), one = _mm256_set1_ps(1);
  return {_mm256_blendv_ps(a.low, one, _mm256_cmp_ps(a.low, none, _CMP_GT_OQ)),
          _mm256_blendv_ps(a.high, one, _mm256_cmp_ps(a.high, none, _CMP_GT_OQ))};
}
inline Lanes root(Lanes a) {
  return {_mm256_sqrt_ps(a.low), _mm256_sqrt_ps(a.high)};
}
/// Returns a / b; 0 where b is 0.
inline Lanes quotient(Lanes a, Lanes b) {
  const __m256 none = _mm256_setzero_ps();
  return {_mm256_and_ps(_mm256_cmp_ps(b.low, none, _CMP_NEQ_OQ), _mm256_div_ps(a.low, b.low)),
          _mm256_and_ps(_mm256_cmp_ps(b.high, none, _CMP_NEQ_OQ), _mm256_div_ps(a.high, b.high))};
}

/// Returns the smaller of each pair; b if either is NaN.
inline Lanes fmin(Lanes a, Lanes b) {
  return {_mm256_min_ps(a.low, b.low), _mm256_min_ps(a.high, b.high)};
}
/// Returns the lanes that are not at least `threshold`: all of them if it is NaN.
inline Mask passes(Lanes values, float threshold) {
  const __m256 bound = _mm256_set1_ps(threshold);
  return {_mm256_cmp_ps(values.low, bound, _CMP_NGE_UQ), _mm256_cmp_ps(values.high, bound, _CMP_NGE_UQ)};
}
/// Returns the lanes that are at most `bound`: none of them if it is NaN.
inline Mask at_most(Lanes values, float bound) {
  const __m256 all_lanes = _mm256_set1_ps(bound);
  return {_mm256_cmp_ps(values.low, all_lanes, _CMP_LE_OQ),
          _mm256_cmp_ps(values.high, all_lanes, _CMP_LE_OQ)};
}
inline Mask either(Mask a, Mask b) {
  return {_mm256_or_ps(a.low, b.low), _mm256_or_ps(a.high, b.high)};
}
/// Returns one bit per lane.
inline std::uint32_t bits(Mask mask) {
  const auto low = static_cast<std::uint32_t>(_mm256_movemask_ps(mask.low));
  const auto high = static_cast<std::uint32_t>(_mm256_movemask_ps(mask.high));
  return low | high << 8;
}
inline bool any(Mask mask) {
  return _mm256_movemask_ps(_mm256_or_ps(mask.low, mask.high)) != 0;
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
