// Appends what passes among the sums of collect_fp16.cl. Four sums of an item, of which some pass, are a
// finding. A warp gathers up to 32 findings in local memory before it looks which of their sums pass, one
// finding per item, and appends these: so that an item with a finding does not let the others wait, and the
// warp waits once for the memory of all.
// No twin in kernels_cuda: hopper/fragments.cuh gathers for warps that do nothing else.
#include "propose/append_fp16.cl"

#define MOST_FOUND 32           // findings that a warp has room for
#define FOUND (2 * MOST_FOUND)  // pieces of 16 bytes that they take
#define ROOM (4 * ALONG)        // with less, sums that are tested next would often be tested twice

#ifndef SAMPLE
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
#endif

// Appends the sums of a finding that pass; those of bytes are tested once more. What is read is on its way
// at once, and one atomic addition takes places for all.
//   head  the query, the place of row 0 in the step, the number of row 0, and the bits of the query's limit
//   sums  bits of the sums with rows 0, 1, 8 and 9
ALL_INLINE void append_four(uint4 head, uint4 sums, Tested tested, CANDIDATES) {
  const ulong q = head.s0;
  const uint bits[4] = {sums.s0, sums.s1, sums.s2, sums.s3};
  global const float* low = tested.low + head.s1;
#ifdef BOUNDS
  const float2 gap = *(global const float2*)(low + tested.gap_first);
  const float2 gap_of_8 = *(global const float2*)(low + tested.gap_first + 8);
  const float gaps[4] = {gap.x, gap.y, gap_of_8.x, gap_of_8.y};
#endif
#ifdef LIFTED
  if (q >= tested.q_rows) return;
  global const int* lift = (global const int*)lows_of(tested) + head.s1;
  const float threshold = tested.threshold[tested.threshold_at.first + q * tested.threshold_at.stride];
#endif
  float v[4];
  uint pending = 0;
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
#ifdef LIFTED
    const uint column = i / 2 * 8 + i % 2;
    v[i] = fma(-tested.unscale, (float)(as_int(bits[i]) - lift[column]), low[column]);
    pending |= (uint)(passes(as_int(bits[i]), as_int(head.s3)) && v[i] <= threshold) << i;
#else
    v[i] = as_float(bits[i]);
    pending |= (uint)passes(v[i], as_float(head.s3)) << i;
#endif
  }
  if (pending == 0) return;
  uint at = atomic_add(COUNT_OF(q), popcount(pending));
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    if ((pending >> i & 1) == 0) continue;
    if (at < lists.capacity) PUT_CANDIDATE(q, at, head.s2 + i / 2 * 8 + i % 2, v[i], gaps[i]);
    ++at;
  }
}

// Appends up to 32 findings, one per item. All items of the warp call this.
ALL_INLINE void append_gathered(local const uint4* found, uint many, uint lane, Tested tested, CANDIDATES) {
  JOIN_WARP();
  if (lane < many) append_four(found[2 * lane], found[2 * lane + 1], tested, CANDIDATES_HERE);
  JOIN_WARP();
}

// What a warp has gathered, and how far it is with the sums that it tests. Where their findings do not fit,
// the same sums are tested in further rounds.
typedef struct {
  uint count;  // findings in local memory
  uint done;   // findings of these sums that earlier rounds have gathered
  uint seen;   // findings of these sums that this round has seen
} Gathered;

// Gathers the findings of those items of a warp that have one. All items of the warp call this.
//   head, sums  see append_four()
//   found       [FOUND] belongs to this warp
ALL_INLINE void gather(bool has, uint4 head, uint4 sums, local uint4* found, Gathered* at, uint lane,
                       Tested tested, CANDIDATES) {
  const uint votes = votes_of_warp(has), before = at->seen + popcount(votes & ((1u << lane) - 1));
  at->seen += popcount(votes);
  if (!has || before - at->done >= MOST_FOUND - at->count) return;  // wraps around if it is done
  found += 2 * (at->count + before - at->done);
  found[0] = head;
  found[1] = sums;
}

// Ends a round, and appends what is gathered if there is little room for more. Returns whether all findings
// of these sums were gathered; else they are to be tested once more. All items of the warp call this.
ALL_INLINE bool end_round(local const uint4* found, Gathered* at, uint lane, Tested tested, CANDIDATES) {
  const uint more = at->seen - at->done, room = MOST_FOUND - at->count;
  at->count += min(more, room);
  at->done = more <= room ? 0 : at->done + room;
  at->seen = 0;
  if (at->count > MOST_FOUND - ROOM) {
    append_gathered(found, at->count, lane, tested, CANDIDATES_HERE);
    at->count = 0;
  }
  return more <= room;
}

// Gathers the findings of a warp among 16 queries and 8 ALONG training rows. All items of the warp call this.
//   v      values that are compared with the threshold, or lifted sums (append_fp16.cl)
//   q      the first query of the item
//   place  of training row 0, as gap counts
//   row    number of training row 0
ALL_INLINE void gather_matrices(const Accumulator* v, Limit limit, Limit limit_of_second, uint q, uint place,
                                uint row, local uint4* found, Gathered* at, uint lane, Tested tested,
                                CANDIDATES) {
#pragma unroll
  for (uint j = 0; j < ALONG; j += 2)
#pragma unroll
    for (uint second = 0; second < 2; ++second) {
      const Accumulator* of = v + 4 * j + 2 * second;
      const Limit least = second ? limit_of_second : limit;
      const bool has =
          passes(of[0], least) | passes(of[1], least) | passes(of[4], least) | passes(of[5], least);
      if (!any_of_warp(has)) continue;
      lane = hidden(lane);  // so that nothing computed from it is kept in registers elsewhere
      const uint column = 8 * j + lane % 4 * 2;
      const uint4 head = {q + 8 * second, place + column, row + column, as_uint(least)};
      const uint4 sums = {as_uint(of[0]), as_uint(of[1]), as_uint(of[4]), as_uint(of[5])};
      gather(has, head, sums, found, at, lane, tested, CANDIDATES_HERE);
    }
}
#endif
