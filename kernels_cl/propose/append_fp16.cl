// Tests the sums that tensor cores compute, in the items that hold them. What passes, about one
// in thousands, is gathered in local memory by each warp, and appended to lists of candidates 32
// at a time, one per item, so that a warp waits for places in lists once for 32 candidates. The
// twin of kernels_cuda/propose/append_fp16.cuh.
#include "common/tensor.cl"
#include "common/warp.cl"
#include "kith/spi/kernel_limits.def"
#include "propose/candidates.cl"

#define FOUND 64  // number of findings that a warp has room for until they are appended

// Returns element `at` of v [4 * ALONG]. Every element is read for any `at`, so that compilers keep v
// in registers.
ALL_INLINE float element_of(const float* v, uint at) {
  uint found = 0;
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) found |= as_uint(v[i]) & (at == i ? 0xFFFFFFFFu : 0u);
  return as_float(found);
}

#ifdef SAMPLE
// Writes, for 16 queries and 8 ALONG training rows of a warp, the least bound of each 16 rows of a query,
// instead of listing candidates (spi::CollectStep). All items of the warp call this.
//   v, q   as below; v is NaN if there is no row
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
  // One, two neighbouring, or all four items hold 16 rows together.
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
// Appends up to 32 findings, one per item. All items of the warp call this.
//   found  query, place in the step, training row, and the bits of the value that was compared with
//          the threshold
//   gap    [places]  with -D BOUNDS: the distance from v to `high` (collect_low.cl)
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

// Finds the pairs of 16 queries and 8 ALONG training rows of a warp that pass the threshold, and appends
// findings when there are 32. All items of the warp call this. Before, `found` has `count` findings; returns
// how many it has afterwards; both are less than 32.
//   v       [ALONG, 4]  values that are compared with the threshold. In matrix j they belong to query q and
//                       rows 8 j + 2 (lane % 4) and 8 j + 2 (lane % 4) + 1, then to query q + 8 and the
//                       same rows
//   q       the first query of the item
//   place   of training row 0, as gap counts
//   row     number of training row 0
//   found   [FOUND]     belongs to this warp
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
    const uint at = 31 - clz(pending | 1);  // 0 if none is left
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
