// Appending what tensor cores propose to lists of candidates.
#include "candidates.cl"
#include "tensor.cl"

// Element `at` of v [4 * ALONG]. Compilers keep v in registers where each element is read whatever `at` is.
ALL_INLINE float element_of(const float* v, uint at) {
  uint found = 0;
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) found |= as_uint(v[i]) & (at == i ? 0xFFFFFFFFu : 0u);
  return as_float(found);
}

#ifdef FIRST
#if ALONG % 2
#error "rows are appended four at a time"
#endif
// Append all 2 ALONG rows of a lane to the list of query q: four places after those of the lane before it.
//   v   [ALONG, 4]  as below; the first two of each matrix are of query q
//   to  the first place of the four lanes
ALL_INLINE void append_all(const float* v, ulong q, uint to, uint row, global const float* gap, uint lane,
                           CANDIDATES) {
  to += lane % 4 * 4;
#ifdef BOUNDS
  const bool aligned = ((rows_first + q * rows_stride + to | lows_first + q * lows_stride + to) & 3) == 0 &&
                       ((highs_first + q * highs_stride + to) & 1) == 0;
#endif
#pragma unroll
  for (uint i = 0; i < 2 * ALONG; i += 4, to += 16) {
    const uint column = i / 2 * 8 + lane % 4 * 2, t = row + column;
    const float v0 = v[2 * i], v1 = v[2 * i + 1], v2 = v[2 * i + 4], v3 = v[2 * i + 5];
#ifdef BOUNDS
    const float2 near = *(global const float2*)(gap + column),
                 far = *(global const float2*)(gap + column + 8);
    if (aligned && to + 4 <= capacity) {
      *(global uint4*)(rows + rows_first + q * rows_stride + to) = (uint4)(t, t + 1, t + 8, t + 9);
      *(global float4*)(lows + lows_first + q * lows_stride + to) = (float4)(v0, v1, v2, v3);
      global ulong2* high = (global ulong2*)(highs + highs_first + q * highs_stride + to);
      high[0] = (ulong2)(high_key(v0, near.x, t), high_key(v1, near.y, t + 1));
      high[1] = (ulong2)(high_key(v2, far.x, t + 8), high_key(v3, far.y, t + 9));
      continue;
    }
#endif
    if (to < capacity) PUT_CANDIDATE(q, to, t, v0, near.x);
    if (to + 1 < capacity) PUT_CANDIDATE(q, to + 1, t + 1, v1, near.y);
    if (to + 2 < capacity) PUT_CANDIDATE(q, to + 2, t + 8, v2, far.x);
    if (to + 3 < capacity) PUT_CANDIDATE(q, to + 3, t + 9, v3, far.y);
  }
}
#endif

// Of 16 queries and 8 ALONG training rows of a warp, append those that theta lets pass. Called by all of the
// warp.
//   v       [ALONG, 4]  of matrix j: query q and rows 8 j + 2 (lane % 4) and one more, and the same of query
//                       q + 8; what is compared with theta
//   q       the first query of the item
//   row     number of training row 0
//   gap     [8 ALONG]   with -D BOUNDS: how far `high` is above v (collect_low.cl)
//
// The four items that share a query take their places with one atomic addition. With -D FIRST all may pass,
// as before there is any theta, and are then written faster; elsewhere that would only take registers.
ALL_INLINE void append_matrices(const float* v, float theta, float theta_of_second, ulong q, uint row,
                                global const float* gap, uint lane, CANDIDATES) {
  uint near = 0;  // bit i: v[i] passes
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) near |= (uint)(v[i] <= (i & 2 ? theta_of_second : theta)) << i;
  // Counts of the second query are in the upper half.
  const uint mine = popcount(near & 0x33333333u) | popcount(near & 0xCCCCCCCCu) << 16;
  uint before = 0, all = 0;
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const uint of_item = of_four(mine, i);
    before += i < lane % 4 ? of_item : 0;
    all += of_item;
  }
  const uint many = lane % 4 == 0 ? all & 0xFFFFu : lane % 4 == 1 ? all >> 16 : 0;
  uint begin = 0;
  if (many != 0) begin = atomic_add(COUNT_OF(q + lane % 4 * 8), many);
  JOIN_WARP();
  uint place = of_four(begin, 0), place_of_second = of_four(begin, 1);
#ifdef FIRST
  if (all == 4 * 2 * ALONG * 0x10001u) {
    append_all(v, q, place, row, gap, lane, CANDIDATES_HERE);
    append_all(v + 2, q + 8, place_of_second, row, gap, lane, CANDIDATES_HERE);
    near = 0;
  }
#endif
  place += before & 0xFFFFu;
  place_of_second += before >> 16;
  while (near != 0) {
    const uint at = 31 - clz(near);
    near ^= 1u << at;
    const bool second = (at & 2) != 0;
    const uint to = second ? place_of_second : place;
    if (second)
      ++place_of_second;
    else
      ++place;
    if (to >= capacity) continue;
    const uint column = at / 4 * 8 + lane % 4 * 2 + at % 2;
    const ulong list = second ? q + 8 : q;
    PUT_CANDIDATE(list, to, row + column, element_of(v, at), gap[column]);
  }
  JOIN_WARP();
}

// What an item compares with theta, v = low - p, in place of its products, and whether it lets anything pass.
//   v    [ALONG, 4]  scaled products p
//   low  [ALONG]     of rows 8 j + 2 (lane % 4) and one more; NaN where there is no row, which never passes
ALL_INLINE bool test_matrices(float* v, const float2* low, float unscale, float theta,
                              float theta_of_second) {
  // The least of each query is compared, so that no comparison waits for the one before.
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) v[i] = fma(-unscale, v[i], i & 1 ? low[i / 4].y : low[i / 4].x);
  float least[4] = {v[0], v[1], v[2], v[3]};
#pragma unroll
  for (uint i = 4; i < 4 * ALONG; ++i) least[i % 4] = fmin(least[i % 4], v[i]);
  return (fmin(least[0], least[1]) <= theta) | (fmin(least[2], least[3]) <= theta_of_second);
}
