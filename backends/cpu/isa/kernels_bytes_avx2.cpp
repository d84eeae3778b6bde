// Inner products of signed bytes by AVX2. Compiled with the flags of cpu.cmake.
//
// The products of two neighbours are added in 16 bits. These do not overflow if queries are at most 63,
// because the sum is at most twice 255 * 63. Two such sums are added in 32 bits. 4 queries by 16 rows are in
// registers at once.
#if defined(__x86_64__)
#define KITH_ISA bytes_avx2
#include <immintrin.h>

#include "cpu/isa/sums_avx2.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

/// Four dimensions of 8 rows, and of the next 8.
struct Bytes {
  __m256i half[2];
};

constexpr std::size_t most_groups = 1;
constexpr std::size_t blocks_beside(std::size_t) {
  return 1;
}

inline Bytes load_bytes(const std::int8_t* at) {
  const auto* const halves = reinterpret_cast<const __m256i*>(at);
  return {{_mm256_loadu_si256(halves), _mm256_loadu_si256(halves + 1)}};
}
inline Bytes repeat_byte(char byte) {
  return {{_mm256_set1_epi8(byte), _mm256_set1_epi8(byte)}};
}
inline Bytes repeat_four(const std::int8_t* at) {
  std::int32_t bytes;
  __builtin_memcpy(&bytes, at, sizeof bytes);
  return {{_mm256_set1_epi32(bytes), _mm256_set1_epi32(bytes)}};
}
constexpr std::int32_t added_to_rows = 128;
/// Returns bytes with 128 added.
inline Bytes without_sign(Bytes bytes) {
  const __m256i sign = _mm256_set1_epi8(-128);
  return {{_mm256_xor_si256(bytes.half[0], sign), _mm256_xor_si256(bytes.half[1], sign)}};
}
inline Sums all_sums(std::int32_t value) {
  return {{_mm256_set1_epi32(value), _mm256_set1_epi32(value)}};
}
inline void store_sums(std::int32_t* to, Sums sums) {
  auto* const halves = reinterpret_cast<__m256i*>(to);
  _mm256_storeu_si256(halves, sums.half[0]);
  _mm256_storeu_si256(halves + 1, sums.half[1]);
}

/// Computes sums + rows * queries, with unsigned bytes in rows and signed ones in queries.
inline void add_products(Sums& sums, Bytes rows, Bytes queries) {
  const __m256i ones = _mm256_set1_epi16(1);
  for (int h = 0; h < 2; ++h) {
    const __m256i pairs = _mm256_maddubs_epi16(rows.half[h], queries.half[h]);
    sums.half[h] = _mm256_add_epi32(sums.half[h], _mm256_madd_epi16(pairs, ones));
  }
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA

#include "cpu/isa/bytes_source.hpp"

namespace kith::cpu {

void propose_int8_avx2(const Products& products) {
  KITH_ISA::propose_bytes(products);
}

}  // namespace kith::cpu
#endif
