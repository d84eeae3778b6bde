// Appends what passes among the sums of collect_tiles.cl. A warp gathers what passes in local memory, and
// appends 32 findings at a time, one per item, so that it waits for places in lists once for all of them.
// With -D ITEMS each item appends its own.
// No twin in kernels_cuda: append_fp16.cuh has this.
#include "propose/append_fp16.cl"

#define FOUND 64  // findings that a warp has room for until they are appended

#ifndef SAMPLE
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
  for (uint i = 0; i < 4 * ALONG; ++i) pending |= (uint)passes(v[i], i & 2 ? limit_of_second : limit) << i;
  return pending;
}

// Finds the pairs of 16 queries and 8 ALONG training rows of a warp that pass, and appends findings when
// there are 32. All items of the warp call this. Before, `found` has `count` findings; returns how many it
// has afterwards; both are less than 32.
//   v       values that are compared with the threshold, or lifted sums (append_fp16.cl)
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
#endif
