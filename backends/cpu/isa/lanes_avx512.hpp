// 16 floats, one for each row of a training block: AVX-512. Only kernels_avx512.cpp includes this, so that it
// stays in one object file.
#pragma once

// gcc 12 warns about the undefined operand inside its own _mm512_max_ps.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace kith::cpu::KITH_ISA {
namespace {

struct Lanes {
  __m512 v;
};
using Mask = __mmask16;

/// The most queries and accumulators of a tile: as many as fit into the 32 registers beside the operands.
constexpr int most_queries = 8, most_accumulators = 16;
/// How many 64-bit numbers an instruction compares; 0: none does.
constexpr std::size_t key_lanes = 8;
/// Tiles are compiled for each number of dimensions up to this.
constexpr int most_fixed_dims = 4;

inline Lanes load(const float* from) {
  return {_mm512_loadu_ps(from)};
}
inline void store(float* to, Lanes a) {
  _mm512_storeu_ps(to, a.v);
}
inline Lanes all(float value) {
  return {_mm512_set1_ps(value)};
}
inline Lanes operator+(Lanes a, Lanes b) {
  return {_mm512_add_ps(a.v, b.v)};
}
inline Lanes operator-(Lanes a, Lanes b) {
  return {_mm512_sub_ps(a.v, b.v)};
}
inline Lanes operator*(Lanes a, Lanes b) {
  return {_mm512_mul_ps(a.v, b.v)};
}
inline Lanes operator-(Lanes a) {
  return {_mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a.v), _mm512_set1_epi32(INT32_MIN)))};
}
inline Lanes fma(Lanes a, Lanes b, Lanes c) {
  return {_mm512_fmadd_ps(a.v, b.v, c.v)};
}
inline Lanes fabs(Lanes a) {
  return {_mm512_abs_ps(a.v)};
}
inline Lanes fmax(Lanes a, Lanes b) {
  return {_mm512_max_ps(a.v, b.v)};
}

/// Returns the number of ones in each 32 bits, as a float. It adds neighbouring bits, because not every
/// AVX-512 processor can count bits or shuffle bytes.
inline Lanes count_bits(__m512i x) {
  const auto mask = [](int pattern) { return _mm512_set1_epi32(pattern); };
  x = _mm512_sub_epi32(x, _mm512_and_si512(_mm512_srli_epi32(x, 1), mask(0x55555555)));
  x = _mm512_add_epi32(_mm512_and_si512(x, mask(0x33333333)),
                       _mm512_and_si512(_mm512_srli_epi32(x, 2), mask(0x33333333)));
  x = _mm512_and_si512(_mm512_add_epi32(x, _mm512_srli_epi32(x, 4)), mask(0x0F0F0F0F));
  x = _mm512_srli_epi32(_mm512_mullo_epi32(x, mask(0x01010101)), 24);
  return {_mm512_cvtepi32_ps(x)};
}
/// Returns the number of bits of each pair that differ, as a float.
inline Lanes bits_apart(Lanes a, Lanes b) {
  return count_bits(_mm512_xor_si512(_mm512_castps_si512(a.v), _mm512_castps_si512(b.v)));
}
/// Returns the number of bits that are 1 in both of each pair, as a float.
inline Lanes ones_both(Lanes a, Lanes b) {
  return count_bits(_mm512_and_si512(_mm512_castps_si512(a.v), _mm512_castps_si512(b.v)));
}

/// Returns the lanes that are numbers, and 0 where they are NaN.
inline Lanes known(Lanes a) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a.v, a.v, _CMP_ORD_Q), a.v)};
}
/// Returns 1 in lanes that are numbers, and 0 where they are NaN.
inline Lanes is_known(Lanes a) {
  return {_mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a.v, a.v, _CMP_ORD_Q), _mm512_set1_ps(1))};
}

/// Returns 1 in lanes that are above 0; others, which are 0 or NaN, as they are.
inline Lanes above_0(Lanes a) {
  return {
      _mm512_mask_mov_ps(a.v, _mm512_cmp_ps_mask(a.v, _mm512_setzero_ps(), _CMP_GT_OQ), _mm512_set1_ps(1))};
}
inline Lanes root(Lanes a) {
  return {_mm512_sqrt_ps(a.v)};
}
/// Returns a / b; 0 where b is 0.
inline Lanes quotient(Lanes a, Lanes b) {
  return {_mm512_maskz_div_ps(_mm512_cmp_ps_mask(b.v, _mm512_setzero_ps(), _CMP_NEQ_OQ), a.v, b.v)};
}

/// Returns the smaller of each pair; b if either is NaN.
inline Lanes fmin(Lanes a, Lanes b) {
  return {_mm512_min_ps(a.v, b.v)};
}
/// Returns the lanes that are not at least `threshold`: all of them if it is NaN.
inline Mask passes(Lanes values, float threshold) {
  return _mm512_cmp_ps_mask(values.v, _mm512_set1_ps(threshold), _CMP_NGE_UQ);
}
/// Returns the lanes that are at most `bound`: none of them if it is NaN.
inline Mask at_most(Lanes values, float bound) {
  return _mm512_cmp_ps_mask(values.v, _mm512_set1_ps(bound), _CMP_LE_OQ);
}
inline Mask either(Mask a, Mask b) {
  return static_cast<Mask>(a | b);
}
/// Returns one bit per lane.
inline std::uint32_t bits(Mask mask) {
  return mask;
}
inline bool any(Mask mask) {
  return mask != 0;
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA
