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

// Of 16 queries and 8 ALONG training rows of a warp, append those that theta lets pass. Called by all of the
// warp.
//   v       [ALONG, 4]  of matrix j: query q and rows 8 j + 2 (lane % 4) and one more, and the same of query
//                       q + 8; what is compared with theta
//   q       the first query of the item
//   row     number of training row 0
//   gap     [8 ALONG]   with -D BOUNDS: how far `high` is above v (collect_low.cl)
//
// The four items that share a query take their places with one atomic addition.
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
  // Where all pass, as in a first step, the four take turns, and write side by side.
  const bool turns = all == 4 * 2 * ALONG * 0x10001u;
  const uint next = turns ? 4 : 1;
  uint place = of_four(begin, 0) + (turns ? lane % 4 : before & 0xFFFFu),
       place_of_second = of_four(begin, 1) + (turns ? lane % 4 : before >> 16);
  while (near != 0) {
    const uint at = 31 - clz(near);
    near ^= 1u << at;
    const bool second = (at & 2) != 0;
    const uint to = second ? place_of_second : place;
    if (second)
      place_of_second += next;
    else
      place += next;
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
