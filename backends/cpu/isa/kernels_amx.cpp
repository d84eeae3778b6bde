// Inner products of 16-bit floats and of signed bytes on the matrix units of a CPU (AMX). Compiled with the
// flags of cpu.cmake.
//
// Quantized rows are stored in tiles of 16 rows by 64 bytes, 1 KiB each; the tiles of 16 rows are contiguous.
// In tiles of queries, rows are contiguous; in tiles of training rows, 4 bytes of each of 16 rows are side by
// side (quantized_order.hpp). Rows of 32 bytes have half a tile. Two times two tiles of 16 by 16 sums are in
// registers at once. Training rows are read in slabs, which stay in the second-level cache while all queries
// of the task scan them. Sums are tested when they leave the registers.
//
// The unit multiplies exactly. It rounds each addition of floats once, and treats subnormal numbers as 0;
// sums of bytes are exact: docs/certificate.md, section 3.
//
// Functions of the standard library and inline functions of other headers may not be used here: see
// kernels.hpp.
#if defined(KITH_CPU_AMX)
#define KITH_ISA amx
#include <immintrin.h>

#include "cpu/steps/propose/propose.hpp"

namespace kith::cpu {
namespace KITH_ISA {
namespace {

constexpr std::size_t tile_bytes = tile_rows * tile_line;
constexpr std::size_t slab_bytes = std::size_t{1} << 19;  // a quarter of the second-level cache

/// Multiplies 16-bit floats. Tiles 0 to 3 are sums, 4 and 5 are queries, 6 and 7 are training rows.
struct Halves {
  using Element = std::uint16_t;
  using Sum = float;

  static void multiply_first() {
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(1, 4, 7);
  }
  static void multiply_second() {
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(3, 5, 7);
  }
  static __m512 place(const Products&, __m512 low, const Sum* sums) {
    return _mm512_sub_ps(low, _mm512_load_ps(sums));
  }
};

/// Multiplies signed bytes.
struct Bytes {
  using Element = std::int8_t;
  using Sum = std::int32_t;

  static void multiply_first() {
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
  }
  static void multiply_second() {
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  static __m512 place(const Products& p, __m512 low, const Sum* sums) {
    return _mm512_fnmadd_ps(_mm512_cvtepi32_ps(_mm512_load_si512(sums)), _mm512_set1_ps(p.unscale), low);
  }
};

/// The shapes of the eight registers.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

/// Shapes registers for quantized rows that have `line` bytes in a tile.
void load_shapes(std::size_t line) {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) {
    const bool of_queries = i == 4 || i == 5, of_train = i >= 6;
    shapes.bytes[i] = static_cast<std::uint16_t>(of_queries ? line : tile_line);
    shapes.rows[i] = static_cast<std::uint8_t>(of_train ? line / tile_pack : tile_rows);
  }
  asm volatile("" : : "r"(&shapes) : "memory");  // gcc believes that the next line reads 8 bytes alone
  _tile_loadconfig(&shapes);
}

/// The quantized rows of a task, in tiles.
template <class Numbers>
struct Tiles {
  const char *queries, *train;
  std::size_t line;         ///< bytes of a row in a tile
  std::size_t steps;        ///< tiles of a row that are not all padding
  std::size_t block_bytes;  ///< of 16 rows

  explicit Tiles(const Products& p)
      : queries(static_cast<const char*>(p.queries)), train(static_cast<const char*>(p.train)) {
    constexpr std::size_t size = sizeof(typename Numbers::Element);
    line = p.pitch * size < tile_line ? p.pitch * size : tile_line;
    steps = (p.dims * size + line - 1) / line;
    block_bytes = tile_rows * p.pitch * size;
  }
};

/// The sums of 32 queries and 32 training rows: tile 2 i + j belongs to queries from 16 i on and training
/// rows from 16 j on.
template <class Numbers>
struct alignas(64) Sums {
  typename Numbers::Sum tile[4][tile_rows][tile_rows];
};

/// Multiplies one or two neighbouring blocks of 16 queries with two blocks of 16 training rows.
template <class Numbers, bool two>
inline void multiply(const Tiles<Numbers>& of, const char* q, const char* t0, const char* t1,
                     Sums<Numbers>& sums) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::size_t i = 0; i < of.steps; ++i) {
    const std::size_t at = i * tile_bytes;
    _tile_loadd(4, q + at, of.line);
    _tile_loadd(6, t0 + at, tile_line);
    _tile_loadd(7, t1 + at, tile_line);
    if constexpr (two) _tile_loadd(5, q + of.block_bytes + at, of.line);
    Numbers::multiply_first();
    if constexpr (two) Numbers::multiply_second();
  }
  _tile_stored(0, sums.tile[0], tile_line);
  _tile_stored(1, sums.tile[1], tile_line);
  if constexpr (two) {
    _tile_stored(2, sums.tile[2], tile_line);
    _tile_stored(3, sums.tile[3], tile_line);
  }
}

/// Tests a tile of sums whose corner is `first_query` and `first_row`.
template <class Numbers>
inline void test(const Products& p, const typename Numbers::Sum (&sums)[tile_rows][tile_rows],
                 std::size_t first_query, std::size_t first_row) {
  const auto there = static_cast<__mmask16>(present(p, first_row));
  const __m512 low = _mm512_loadu_ps(p.low + first_row);
  const std::size_t begin = p.query_begin > first_query ? p.query_begin - first_query : 0;
  const std::size_t end = p.query_end - first_query < tile_rows ? p.query_end - first_query : tile_rows;
  for (std::size_t i = begin; i < end; ++i) {
    const __m512 place = Numbers::place(p, low, sums[i]);
    const __m512 threshold = _mm512_set1_ps(p.threshold[(first_query + i) * p.threshold_stride]);
    const __mmask16 passed = _mm512_mask_cmp_ps_mask(there, place, threshold, _CMP_LE_OQ);
    if (__builtin_expect(passed == 0, 1)) continue;
    alignas(64) float lows[tile_rows];
    _mm512_store_ps(lows, place);
    append_candidates(p, first_query + i, first_row, passed, lows);
  }
}

/// Multiplies training blocks first ... end - 1, of 16 rows, with one or two blocks of queries from `q` on.
template <class Numbers, bool two>
void run_queries(const Products& p, const Tiles<Numbers>& of, std::size_t q, std::size_t first,
                 std::size_t end) {
  Sums<Numbers> sums;
  for (std::size_t t = first; t < end; t += 2) {
    // A single block at the end is multiplied twice, and tested once.
    const bool two_t = t + 1 < end;
    const char *const t0 = of.train + t * of.block_bytes, *const t1 = two_t ? t0 + of.block_bytes : t0;
    multiply<Numbers, two>(of, of.queries + q * of.block_bytes, t0, t1, sums);
    for (std::size_t i = 0; i < (two ? 2 : 1); ++i)
      for (std::size_t j = 0; j < (two_t ? 2 : 1); ++j)
        test<Numbers>(p, sums.tile[2 * i + j], (q + i) * tile_rows, (t + j) * tile_rows);
  }
}

template <class Numbers>
void propose(const Products& p) {
  const Tiles<Numbers> of(p);
  const std::size_t fitting = slab_bytes / of.block_bytes / 2 * 2, slab = fitting < 2 ? 2 : fitting;
  const std::size_t train_end = (p.train_end + tile_rows - 1) / tile_rows,
                    query_end = (p.query_end + tile_rows - 1) / tile_rows;
  load_shapes(of.line);
  for (std::size_t first = p.train_begin / tile_rows; first < train_end; first += slab) {
    const std::size_t end = train_end - first < slab ? train_end : first + slab;
    std::size_t q = p.query_begin / tile_rows;
    for (; q + 2 <= query_end; q += 2) run_queries<Numbers, true>(p, of, q, first, end);
    if (q < query_end) run_queries<Numbers, false>(p, of, q, first, end);
  }
  _tile_release();
}

}  // namespace
}  // namespace KITH_ISA

void propose_bf16(const Products& p) {
  KITH_ISA::propose<KITH_ISA::Halves>(p);
}

void propose_int8_amx(const Products& p) {
  KITH_ISA::propose<KITH_ISA::Bytes>(p);
}

}  // namespace kith::cpu
#endif
