// Inner products of signed bytes by AVX2 for queries with any bytes, which rows on a grid of bytes have.
// Compiled with the flags of cpu.cmake.
//
// Bytes are widened to 16 bits, whose products are added in pairs in 32 bits. This takes as many
// multiplications as for bytes that are at most 63 (kernels_bytes_avx2.cpp), and twice as many additions.
// Queries are widened once for all rows of a slab, which stays in the second-level cache. 4 queries by 8
// rows are in registers at once, with two sums for each pair. Sums are exact. docs/certificate.md, sections
// 3 and 4.
//
// Functions of the standard library and inline functions of other headers may not be used here: see
// kernels.hpp.
#if defined(__x86_64__)
#define KITH_ISA bytes_wide_avx2
#include "cpu/isa/sums_avx2.hpp"

namespace kith::cpu::KITH_ISA {
namespace {

constexpr std::size_t block_rows = byte_train_block, block_queries = byte_query_block, four = byte_dims;
// size of four dimensions
constexpr std::size_t row_bytes = block_rows * four, query_bytes = block_queries * four;
constexpr std::size_t slab_bytes = std::size_t{1} << 18;  // a quarter of a second-level cache of 1 MiB
constexpr std::size_t most_fours = 256;                   // groups of four dimensions widened at once

/// Four queries in 16 bits; each group of four dimensions has those of all four queries in a row.
struct alignas(32) Wide {
  std::int16_t values[most_fours * query_bytes];

  void fill(const Products& p, std::size_t q, std::size_t first, std::size_t count) {
    const auto* const from = static_cast<const std::int8_t*>(p.queries) + q * p.pitch + first * query_bytes;
    for (std::size_t s = 0; s < count; ++s) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + s * query_bytes));
      _mm256_store_si256(reinterpret_cast<__m256i*>(values + s * query_bytes), _mm256_cvtepi8_epi16(bytes));
    }
  }
};

inline __m256i widen(const std::int8_t* at) {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(at)));
}

/// Adds the products of the queries and 8 rows, over `count` groups of four dimensions, to two sums per row.
///   rows  of the first group; the next ones are row_bytes further
template <std::size_t queries>
[[gnu::always_inline]] inline void add_products(__m256i (&sums)[queries][2], const std::int8_t* rows,
                                                const Wide& wide, std::size_t count) {
  for (std::size_t s = 0; s < count; ++s) {
    const __m256i first = widen(rows + s * row_bytes), last = widen(rows + s * row_bytes + row_bytes / 4);
#pragma GCC unroll 4
    for (std::size_t i = 0; i < queries; ++i) {
      long long values;
      __builtin_memcpy(&values, wide.values + s * query_bytes + i * four, sizeof values);
      const __m256i query = _mm256_set1_epi64x(values);
      sums[i][0] = _mm256_add_epi32(sums[i][0], _mm256_madd_epi16(first, query));
      sums[i][1] = _mm256_add_epi32(sums[i][1], _mm256_madd_epi16(last, query));
    }
  }
}

/// Multiplies 1 to 4 queries from `q` on, which are in `wide` if they fit, with a block of training rows.
template <std::size_t queries>
void run_tile(const Products& p, Wide& wide, std::size_t fours, std::size_t q, std::size_t block) {
  const auto* const rows = static_cast<const std::int8_t*>(p.train) + block * block_rows * p.pitch;
  Sums all[queries];
  for (std::size_t h = 0; h < 2; ++h) {
    __m256i sums[queries][2];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < queries; ++i) sums[i][0] = sums[i][1] = _mm256_setzero_si256();
    for (std::size_t first = 0; first < fours; first += most_fours) {
      const std::size_t left = fours - first, count = left < most_fours ? left : most_fours;
      if (fours > most_fours) wide.fill(p, q, first, count);
      add_products(sums, rows + first * row_bytes + h * (row_bytes / 2), wide, count);
    }
    // Lanes belong to rows 0, 1, 4, 5 and 2, 3, 6, 7.
#pragma GCC unroll 4
    for (std::size_t i = 0; i < queries; ++i)
      all[i].half[h] = _mm256_permute4x64_epi64(_mm256_hadd_epi32(sums[i][0], sums[i][1]), 0xD8);
  }
#pragma GCC unroll 4
  for (std::size_t i = 0; i < queries; ++i) test(p, q + i, block * block_rows, all[i]);
}

template <std::size_t queries>
void run_blocks(const Products& p, Wide& wide, std::size_t fours, std::size_t q, std::size_t first,
                std::size_t last) {
  for (std::size_t block = first; block < last; ++block) run_tile<queries>(p, wide, fours, q, block);
}

}  // namespace
}  // namespace kith::cpu::KITH_ISA

namespace kith::cpu {

void propose_int8_wide_avx2(const Products& p) {
  using namespace KITH_ISA;
  const std::size_t fours = (p.dims + four - 1) / four;
  const std::size_t fitting = slab_bytes / (fours * row_bytes), blocks = fitting < 4 ? 4 : fitting;
  const std::size_t end = (p.train_end + block_rows - 1) / block_rows;
  Wide wide;
  for (std::size_t first = p.train_begin / block_rows; first < end; first += blocks) {
    const std::size_t last = end - first < blocks ? end : first + blocks;
    for (std::size_t q = p.query_begin / block_queries * block_queries; q < p.query_end; q += block_queries) {
      if (fours <= most_fours) wide.fill(p, q, 0, fours);
      const std::size_t left = p.query_end - q;  // one or two do not pay for the places behind them
      const auto run = left == 1 ? run_blocks<1> : left == 2 ? run_blocks<2> : run_blocks<block_queries>;
      run(p, wide, fours, q, first, last);
    }
  }
}

}  // namespace kith::cpu
#endif
