// Tests the sums that tensor cores compute, in the items that hold them. What passes, about one
// in thousands, is gathered in local memory by each warp, and appended to lists of candidates 32
// at a time, one per item, so that a warp waits for places in lists once for 32 candidates. The
// twin of kernels_cuda/propose/append_fp16.cuh.
//
// Compiled with -D BYTES for int8, whose sums are tested in whole numbers (lifted.cl) unless a sample is
// taken, and with -D ITEMS for items without warps (items.cl), each of which appends its own findings.
#ifdef ITEMS
#include "common/items.cl"
#else
#include "common/tensor.cl"
#include "common/warp.cl"
#endif
#include "kith/spi/kernel_limits.def"
#include "propose/candidates.cl"
#include "propose/lifted.cl"

#define FOUND 64  // number of findings that a warp has room for until they are appended

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
//   sums, low, q  as below
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
// Returns the bits of element `at` of v [4 * ALONG]. Every element is read for any `at`, so that compilers
// keep v in registers.
ALL_INLINE uint element_of(const Accumulator* v, uint at) {
  uint found = 0;
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) found |= as_uint(v[i]) & (at == i ? 0xFFFFFFFFu : 0u);
  return found;
}

// Appends a finding. One of bytes is tested first.
//   one  query, place in the step, training row, and the bits of the value that was compared with the
//        threshold, or the lifted sum
ALL_INLINE void append_finding(uint4 one, Tested tested, CANDIDATES) {
  const ulong q = one.x;
  float v = as_float(one.w);
#ifdef LIFTED
  if (q >= tested.q_rows) return;
  const int sum = as_int(one.w) - ((global const int*)lows_of(tested))[one.y];
  v = fma(-tested.unscale, (float)sum, tested.low[one.y]);
  if (!(v <= tested.threshold[tested.threshold_at.first + q * tested.threshold_at.stride])) return;
#endif
  const uint at = atomic_add(COUNT_OF(q), 1u);
  // The last argument is the distance from v to `high` (collect_low.cl), with -D BOUNDS.
  if (at < lists.capacity) PUT_CANDIDATE(q, at, one.z, v, tested.low[tested.gap_first + one.y]);
}

// Appends up to 32 findings, one per item. All items of the warp call this.
ALL_INLINE void append_findings(local const uint4* found, uint many, uint lane, Tested tested, CANDIDATES) {
  JOIN_WARP();
  if (lane < many) append_finding(found[lane], tested, CANDIDATES_HERE);
  JOIN_WARP();
}

// Returns a bit for each element of v that passes.
ALL_INLINE uint passing_of(const Accumulator* v, Limit limit, Limit limit_of_second) {
  uint pending = 0;
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) {
    const Limit of = i & 2 ? limit_of_second : limit;
#ifdef LIFTED
    pending |= (uint)(v[i] >= of) << i;
#else
    pending |= (uint)(v[i] <= of) << i;
#endif
  }
  return pending;
}

// Finds the pairs of 16 queries and 8 ALONG training rows of a warp that pass, and appends findings when
// there are 32. All items of the warp call this. Before, `found` has `count` findings; returns how many it
// has afterwards; both are less than 32.
//   v       [ALONG, 4]  values that are compared with the threshold, or lifted sums. In matrix j they belong
//                       to query q and rows 8 j + 2 (lane % 4) and 8 j + 2 (lane % 4) + 1, then to query
//                       q + 8 and the same rows
//   q       the first query of the item
//   place   of training row 0, as gap counts
//   row     number of training row 0
//   found   [FOUND]     belongs to this warp
ALL_INLINE uint append_matrices(const Accumulator* v, Limit limit, Limit limit_of_second, uint q, uint place,
                                uint row, local uint4* found, uint count, uint lane, Tested tested,
                                CANDIDATES) {
  uint pending = passing_of(v, limit, limit_of_second);
  while (any_of_warp(pending != 0)) {
    lane = hidden(lane);  // so that nothing computed from it is kept in registers elsewhere
    const bool has = pending != 0;
    const uint at = 31 - clz(pending | 1);  // 0 if none is left
    const uint column = at / 4 * 8 + lane % 4 * 2 + at % 2;
    const uint4 one = {q + (at & 2) * 4, place + column, row + column, element_of(v, at)};
    pending &= ~(1u << at);
#ifdef ITEMS
    append_finding(one, tested, CANDIDATES_HERE);
#else
    const uint votes = votes_of_warp(has);
    if (has) found[count + popcount(votes & ((1u << lane) - 1))] = one;
    count += popcount(votes);
    if (count < 32) continue;
    count -= 32;
    append_findings(found + count, 32, lane, tested, CANDIDATES_HERE);
#endif
  }
  return count;
}

#ifdef LIFTED
// Returns whether any lifted sum of an item reaches its limit.
//   v  [ALONG, 4]
ALL_INLINE bool test_lifted(const int* v, int limit, int limit_of_second) {
  // There are two maxima for each query, so that no comparison waits for the one before.
  int most[4] = {v[0], v[1], v[2], v[3]};
#pragma unroll
  for (uint i = 4; i < 4 * ALONG; ++i) most[i % 4] = max(most[i % 4], v[i]);
  return (max(most[0], most[1]) >= limit) | (max(most[2], most[3]) >= limit_of_second);
}
#else
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
