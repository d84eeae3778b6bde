// Appending what tensor cores propose to lists of candidates. Each sum is tested where it is. What passes,
// seldom one of thousands, a warp gathers in local memory, and appends when there are 32, an item each: so it
// waits for places in lists once in 32 times. The twin of kernels_cuda/propose/append_fp16.cuh.
#include "common/tensor.cl"
#include "common/warp.cl"
#include "kith/spi/kernel_limits.def"
#include "propose/candidates.cl"

#define FOUND 64  // room of a warp for what it has found and not yet appended

// Element `at` of v [4 * ALONG]. Compilers keep v in registers where each element is read whatever `at` is.
ALL_INLINE float element_of(const float* v, uint at) {
  uint found = 0;
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) found |= as_uint(v[i]) & (at == i ? 0xFFFFFFFFu : 0u);
  return as_float(found);
}

#ifdef SAMPLE
// Of 16 queries and 8 ALONG training rows of a warp, write the least bound of each 16 rows of a query, in
// place of what is listed (spi::CollectStep). Called by all of the warp.
//   v, q   as below; v is NaN where there is no row
//   place  of training row 0 in the step
//   gap    [8 ALONG]  of these rows
ALL_INLINE void put_sample(const float* v, ulong q, uint q_rows, uint place, global const float* gap,
                           uint lane, CANDIDATES) {
  uint least = NO_VALUE, least_of_second = NO_VALUE;
#pragma unroll
  for (uint j = 0; j < ALONG; ++j) {
    const float2 apart = *(global const float2*)(gap + 8 * j + lane % 4 * 2);
    least = min(least, min(high_in_sample(v[4 * j], apart.x), high_in_sample(v[4 * j + 1], apart.y)));
    least_of_second = min(least_of_second,
                          min(high_in_sample(v[4 * j + 2], apart.x), high_in_sample(v[4 * j + 3], apart.y)));
  }
  // Items that have 16 rows together: one, two neighbours, or all four.
#pragma unroll
  for (uint step = 1; step < 8 / ALONG; step *= 2) {
    least = min(least, of_four(least, lane % 4 ^ step));
    least_of_second = min(least_of_second, of_four(least_of_second, lane % 4 ^ step));
  }
  const bool writes = lane % 4 % (8 / ALONG) == 0;
  const uint at = place / KITH_SAMPLE_ROWS + lane % 4 / (8 / ALONG);
  if (writes && q < q_rows) rows[lists.rows.first + q * lists.rows.stride + at] = least;
  if (writes && q + 8 < q_rows) rows[lists.rows.first + (q + 8) * lists.rows.stride + at] = least_of_second;
  JOIN_WARP();
}
#else
// Append up to 32 findings, an item each. Called by all of the warp.
//   found  query, place in the step, training row, bits of what was compared with the threshold
//   gap    [places]  with -D BOUNDS: how far `high` is above v (collect_low.cl)
ALL_INLINE void append_findings(local const uint4* found, uint many, uint lane, global const float* gap,
                                CANDIDATES) {
  JOIN_WARP();
  if (lane < many) {
    const uint4 one = found[lane];
    const ulong q = one.x;
    const uint at = atomic_add(COUNT_OF(q), 1u);
    if (at < lists.capacity) PUT_CANDIDATE(q, at, one.z, as_float(one.w), gap[one.y]);
  }
  JOIN_WARP();
}

// Of 16 queries and 8 ALONG training rows of a warp, find those that the threshold lets pass, and append when
// there are 32. Called by all of the warp. Returns how many are left in `found`, where there were `count`;
// both are less than 32.
//   v       [ALONG, 4]  of matrix j: query q and rows 8 j + 2 (lane % 4) and one more, and the same of query
//                       q + 8; what is compared with the threshold
//   q       the first query of the item
//   place   of training row 0, as gap has it
//   row     number of training row 0
//   found   [FOUND]     of this warp
//   gap     as above
ALL_INLINE uint append_matrices(const float* v, float threshold, float threshold_of_second, uint q,
                                uint place, uint row, local uint4* found, uint count, global const float* gap,
                                uint lane, CANDIDATES) {
  uint pending = 0;  // bit i: v[i] passes
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i)
    pending |= (uint)(v[i] <= (i & 2 ? threshold_of_second : threshold)) << i;
  while (any_of_warp(pending != 0)) {
    lane = hidden(lane);  // so that nothing computed from it is kept in registers elsewhere
    const bool has = pending != 0;
    const uint at = 31 - clz(pending | 1);  // 0 where none is left
    const uint column = at / 4 * 8 + lane % 4 * 2 + at % 2;
    const float value = element_of(v, at);
    const uint votes = votes_of_warp(has);
    if (has)
      found[count + popcount(votes & ((1u << lane) - 1))] =
          (uint4)(q + (at & 2) * 4, place + column, row + column, as_uint(value));
    pending &= ~(1u << at);
    count += popcount(votes);
    if (count < 32) continue;
    count -= 32;
    append_findings(found + count, 32, lane, gap, CANDIDATES_HERE);
  }
  return count;
}
#endif

// What an item compares with the threshold, v = low - p, in place of its products, and whether it lets
// anything pass.
//   v    [ALONG, 4]  scaled products p
//   low  [ALONG]     of rows 8 j + 2 (lane % 4) and one more; NaN where there is no row, which never passes
ALL_INLINE bool test_matrices(float* v, const float2* low, float unscale, float threshold,
                              float threshold_of_second) {
  // The least of each query is compared, so that no comparison waits for the one before.
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) v[i] = fma(-unscale, v[i], i & 1 ? low[i / 4].y : low[i / 4].x);
  float least[4] = {v[0], v[1], v[2], v[3]};
#pragma unroll
  for (uint i = 4; i < 4 * ALONG; ++i) least[i % 4] = fmin(least[i % 4], v[i]);
  return (fmin(least[0], least[1]) <= threshold) | (fmin(least[2], least[3]) <= threshold_of_second);
}
