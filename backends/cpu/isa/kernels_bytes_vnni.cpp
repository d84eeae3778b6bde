// Inner products of signed bytes by the dot products of AVX-512 VNNI. Compiled with the flags of cpu.cmake.
//
// One instruction adds the four products of each of 16 lanes to sums of 32 bits. 12 queries by 32 rows are in
// registers at once, or 8 by 48, or 4 by 64.
#if defined(KITH_CPU_VNNI)
#define KITH_ISA vnni
#include <immintrin.h>

#include "cpu/steps/propose/propose.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

using Bytes = __m512i;  // four dimensions of 16 rows
using Sums = __m512i;   // sums of 16 rows, 32 bits each

constexpr std::size_t most_groups = 3;
constexpr std::size_t blocks_beside(std::size_t groups) {
  return 5 - groups;
}

inline Bytes load_bytes(const std::int8_t* at) {
  return _mm512_loadu_si512(at);
}
inline Bytes repeat_byte(char byte) {
  return _mm512_set1_epi8(byte);
}
inline Bytes repeat_four(const std::int8_t* at) {
  std::int32_t bytes;
  __builtin_memcpy(&bytes, at, sizeof bytes);
  return _mm512_set1_epi32(bytes);
}
constexpr std::int32_t added_to_rows = 128;
/// Returns bytes with 128 added.
inline Bytes without_sign(Bytes bytes) {
  return _mm512_xor_si512(bytes, _mm512_set1_epi8(-128));
}
inline Sums all_sums(std::int32_t value) {
  return _mm512_set1_epi32(value);
}
inline void store_sums(std::int32_t* to, Sums sums) {
  _mm512_storeu_si512(to, sums);
}

/// Computes sums + rows * queries, with unsigned bytes in rows and signed ones in queries. It does not use
/// the intrinsic, for which gcc 12 writes many of a tile's sums to memory in every step, which takes twice
/// as long.
inline void add_products(Sums& sums, Bytes rows, Bytes queries) {
  asm("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(rows), "v"(queries));
}

/// Tests the products of a query with 16 training rows from `first` on.
inline void test(const Products& p, std::size_t q, std::size_t first, Sums sums) {
  if (q < p.query_begin || q >= p.query_end) return;
  const __m512 place =
      _mm512_fnmadd_ps(_mm512_cvtepi32_ps(sums), _mm512_set1_ps(p.unscale), _mm512_loadu_ps(p.low + first));
  const __m512 threshold = _mm512_set1_ps(p.threshold[q * p.threshold_stride]);
  const auto there = static_cast<__mmask16>(present(p, first));
  const __mmask16 passed = _mm512_mask_cmp_ps_mask(there, place, threshold, _CMP_LE_OQ);
  if (__builtin_expect(passed == 0, 1)) return;
  alignas(64) float lows[16];
  _mm512_store_ps(lows, place);
  append_candidates(p, q, first, passed, lows);
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA

#include "cpu/isa/bytes_source.hpp"

namespace kith::cpu {

void propose_int8_vnni(const Products& products) {
  KITH_ISA::propose_bytes(products);
}

}  // namespace kith::cpu
#endif
