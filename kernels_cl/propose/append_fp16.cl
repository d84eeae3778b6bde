// What collect_fp16.cl and collect_tiles.cl test the sums of tensor cores with, in the items that hold them,
// and how they take samples. About one sum in thousands passes; gather.cl and append_sums.cl append these.
// The twin of kernels_cuda/propose/append_fp16.cuh.
//
// An item holds sums [ALONG, 4] of 16 queries and 8 ALONG training rows: those of matrix j belong to its
// first query q and rows 8 j + 2 (lane % 4) and 8 j + 2 (lane % 4) + 1, then to query q + 8 and the same
// rows.
//
// Compiled with -D BYTES for int8, whose sums are tested in whole numbers (lifted.cl) unless a sample is
// taken, and with -D ITEMS for items without warps (items.cl).
#ifdef ITEMS
#include "common/items.cl"
#else
#include "common/tensor.cl"
#include "common/warp.cl"
#endif
#include "kith/spi/kernel_limits.def"
#include "propose/candidates.cl"
#include "propose/lifted.cl"

#ifdef BYTES
typedef int Accumulator;
#else
typedef float Accumulator;
#endif

// The values that sums are tested with: `low` of two neighbouring rows and the threshold of a query, or the
// lifts of the rows and the floor of the query.
#if defined(BYTES) && !defined(SAMPLE)
#define LIFTED
typedef int2 Low;
typedef int Limit;
#else
typedef float2 Low;
typedef float Limit;
#endif

// What findings are appended with. Findings of bytes are tested once more by it.
typedef struct {
  global const float* low;  // [places]  as collect_low.cl writes it
  ulong gap_first;          // where `gap` begins, behind `low`
  global const float* threshold;
  Place threshold_at;
  uint q_rows;
  float unscale;
} Tested;

// Returns the values of places, `low` or lifts, that sums are tested with.
global const float* lows_of(Tested tested) {
#if !defined(LIFTED)
  return tested.low;
#elif defined(BOUNDS)
  return tested.low + 2 * tested.gap_first;
#else
  return tested.low + tested.gap_first;
#endif
}

// Returns the threshold or the floor of query q. If there is no such query, nothing passes.
//   dims  at least the number of columns
Limit limit_of(Tested tested, uint q, uint dims) {
  const float threshold =
      q < tested.q_rows ? tested.threshold[tested.threshold_at.first + q * tested.threshold_at.stride] : NAN;
#ifdef LIFTED
  return floor_of(threshold, tested.unscale, dims);
#else
  return threshold;
#endif
}

#ifdef SAMPLE
// Writes, for 16 queries and 8 ALONG training rows of a warp, the least bound of each 16 rows of a query,
// instead of listing candidates (spi::CollectStep). All items of the warp call this.
//   sums, low, q  as in append_sums.cl
//   place         of training row 0 in the step
//   gap           [8 ALONG]  of these rows
ALL_INLINE void put_sample(const Accumulator* sums, const Low* low, float unscale, ulong q, uint q_rows,
                           uint place, global const float* gap, uint lane, CANDIDATES) {
  float v[4 * ALONG];
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i)
    v[i] = fma(-unscale, (float)sums[i], i & 1 ? low[i / 4].y : low[i / 4].x);
  uint least = NO_VALUE, least_of_second = NO_VALUE;
#pragma unroll
  for (uint j = 0; j < ALONG; ++j) {
    const float2 apart = *(global const float2*)(gap + 8 * j + lane % 4 * 2);
    least = min(least, min(high_in_sample(v[4 * j], apart.x), high_in_sample(v[4 * j + 1], apart.y)));
    least_of_second = min(least_of_second,
                          min(high_in_sample(v[4 * j + 2], apart.x), high_in_sample(v[4 * j + 3], apart.y)));
  }
#if ALONG < 8
  // Two neighbouring items, or all four, hold 16 rows together.
#pragma unroll
  for (uint step = 1; step < 8 / ALONG; step *= 2) {
    least = min(least, of_four(least, lane % 4 ^ step));
    least_of_second = min(least_of_second, of_four(least_of_second, lane % 4 ^ step));
  }
#endif
  const bool writes = lane % 4 % (8 / ALONG) == 0;
  const uint at = place / KITH_SAMPLE_ROWS + lane % 4 / (8 / ALONG);
  if (writes && q < q_rows) rows[lists.rows.first + q * lists.rows.stride + at] = least;
  if (writes && q + 8 < q_rows) rows[lists.rows.first + (q + 8) * lists.rows.stride + at] = least_of_second;
  JOIN_WARP();
}
#else
bool passes(Accumulator v, Limit limit) {
#ifdef LIFTED
  return v >= limit;
#else
  return v <= limit;
#endif
}

#ifndef LIFTED
// Replaces the products of an item by the values that are compared with the threshold, v = low - p, and
// returns whether any passes.
//   v    [ALONG, 4]  scaled products p
//   low  [ALONG]     of rows 8 j + 2 (lane % 4) and 8 j + 2 (lane % 4) + 1; NaN, which never passes, if there
//                    is no row
ALL_INLINE bool test_matrices(float* v, const float2* low, float unscale, float threshold,
                              float threshold_of_second) {
  // There are two minima for each query, so that no comparison waits for the one before.
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) v[i] = fma(-unscale, v[i], i & 1 ? low[i / 4].y : low[i / 4].x);
  float least[4] = {v[0], v[1], v[2], v[3]};
#pragma unroll
  for (uint i = 4; i < 4 * ALONG; ++i) least[i % 4] = fmin(least[i % 4], v[i]);
  return (fmin(least[0], least[1]) <= threshold) | (fmin(least[2], least[3]) <= threshold_of_second);
}
#endif
#endif
