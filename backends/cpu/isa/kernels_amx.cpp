// Inner products of 16-bit floats on the matrix units of a CPU (AMX). Compiled with the flags of cpu.cmake.
//
// Quantized rows are stored in tiles of 16 rows by 32 dimensions, 1 KiB each; the tiles of 16 rows are
// contiguous. In tiles of queries, rows are contiguous; in tiles of training rows, pairs of dimensions of 16
// rows are side by side (quantized_order.hpp). Two times two tiles of 16 by 16 sums are in registers at once.
// Training rows are read in slabs, which stay in the second-level cache while all queries of the task scan
// them. Sums are tested when they leave the registers.
//
// The unit multiplies exactly, rounds each addition once, and treats subnormal numbers as 0:
// docs/certificate.md, section 3.
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

constexpr std::size_t tile_rows = 16, tile_dims = 32, tile_bytes = tile_rows * tile_dims * 2;
constexpr int tile_stride = 64;
constexpr std::size_t slab_bytes = std::size_t{1} << 19;  // a quarter of the second-level cache

/// The shapes of the eight registers: 16 rows of 64 bytes.
struct alignas(64) TileShapes {
  std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
  std::uint16_t bytes[16] = {};
  std::uint8_t rows[16] = {};
};

void load_shapes() {
  TileShapes shapes;
  for (int i = 0; i < 8; ++i) {
    shapes.bytes[i] = tile_stride;
    shapes.rows[i] = tile_rows;
  }
  _tile_loadconfig(&shapes);
}

/// The sums of 32 queries and 32 training rows: tile 2 i + j belongs to queries from 16 i on and training
/// rows from 16 j on.
struct alignas(64) Sums {
  float tile[4][tile_rows][tile_rows];
};

/// Multiplies two blocks of 16 queries with two blocks of 16 training rows, with `steps` tiles each.
inline void multiply(const char* q0, const char* q1, const char* t0, const char* t1, std::size_t steps,
                     Sums& sums) {
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (std::size_t i = 0; i < steps; ++i) {
    const std::size_t at = i * tile_bytes;
    _tile_loadd(4, q0 + at, tile_stride);
    _tile_loadd(6, t0 + at, tile_stride);
    _tile_loadd(5, q1 + at, tile_stride);
    _tile_loadd(7, t1 + at, tile_stride);
    _tile_dpbf16ps(0, 4, 6);
    _tile_dpbf16ps(2, 5, 6);
    _tile_dpbf16ps(1, 4, 7);
    _tile_dpbf16ps(3, 5, 7);
  }
  _tile_stored(0, sums.tile[0], tile_stride);
  _tile_stored(1, sums.tile[1], tile_stride);
  _tile_stored(2, sums.tile[2], tile_stride);
  _tile_stored(3, sums.tile[3], tile_stride);
}

/// Tests a tile of sums whose corner is `first_query` and `first_row`.
inline void test(const Products& p, const float (&sums)[tile_rows][tile_rows], std::size_t first_query,
                 std::size_t first_row) {
  const auto there = static_cast<__mmask16>(present(p, first_row));
  const __m512 low = _mm512_loadu_ps(p.low + first_row);
  const std::size_t begin = p.query_begin > first_query ? p.query_begin - first_query : 0;
  const std::size_t end = p.query_end - first_query < tile_rows ? p.query_end - first_query : tile_rows;
  for (std::size_t i = begin; i < end; ++i) {
    const __m512 place = _mm512_sub_ps(low, _mm512_load_ps(sums[i]));
    const __m512 threshold = _mm512_set1_ps(p.threshold[(first_query + i) * p.threshold_stride]);
    const __mmask16 passed = _mm512_mask_cmp_ps_mask(there, place, threshold, _CMP_LE_OQ);
    if (__builtin_expect(passed == 0, 1)) continue;
    alignas(64) float lows[tile_rows];
    _mm512_store_ps(lows, place);
    append_candidates(p, first_query + i, first_row, passed, lows);
  }
}

/// Multiplies training blocks first ... end - 1, of 16 rows, with all queries of the task.
void run_slab(const Products& p, std::size_t first, std::size_t end) {
  const std::size_t steps = (p.dims + tile_dims - 1) / tile_dims, block_bytes = steps * tile_bytes;
  const auto* const queries = static_cast<const char*>(p.queries);
  const auto* const train = static_cast<const char*>(p.train);
  const std::size_t query_end = (p.query_end + tile_rows - 1) / tile_rows;
  Sums sums;
  for (std::size_t q = p.query_begin / tile_rows; q < query_end; q += 2) {
    // A single block at the end is multiplied twice, and tested once.
    const bool two_q = q + 1 < query_end;
    const char *const q0 = queries + q * block_bytes, *const q1 = two_q ? q0 + block_bytes : q0;
    for (std::size_t t = first; t < end; t += 2) {
      const bool two_t = t + 1 < end;
      const char *const t0 = train + t * block_bytes, *const t1 = two_t ? t0 + block_bytes : t0;
      multiply(q0, q1, t0, t1, steps, sums);
      test(p, sums.tile[0], q * tile_rows, t * tile_rows);
      if (two_t) test(p, sums.tile[1], q * tile_rows, (t + 1) * tile_rows);
      if (two_q) test(p, sums.tile[2], (q + 1) * tile_rows, t * tile_rows);
      if (two_q && two_t) test(p, sums.tile[3], (q + 1) * tile_rows, (t + 1) * tile_rows);
    }
  }
}

}  // namespace
}  // namespace KITH_ISA

void propose_bf16(const Products& p) {
  using namespace KITH_ISA;
  const std::size_t steps = (p.dims + tile_dims - 1) / tile_dims;
  const std::size_t fitting = slab_bytes / (steps * tile_bytes) / 2 * 2, slab = fitting < 2 ? 2 : fitting;
  const std::size_t end = (p.train_end + tile_rows - 1) / tile_rows;
  load_shapes();
  for (std::size_t first = p.train_begin / tile_rows; first < end; first += slab)
    run_slab(p, first, end - first < slab ? end : first + slab);
  _tile_release();
}

}  // namespace kith::cpu
#endif
