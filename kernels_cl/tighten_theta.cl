// tighten, last kernel: what still counts as near, from the k-th best value so far.
//
//   best    [q, k]   ascending, padded with NO_KEY, stride in elements
//   counts  [q]      in; 0 afterwards, with -D BOUNDS as before, stride in elements
//   lost    [q]      becomes 1 where counts is above the capacity, else stays, stride in elements
//   facts   [4, q]   with -D HALVES: of the shadows of the queries, stride in elements
//   theta   [q]      rounded up, stride in elements; with -D BOUNDS in and out: it never grows
//
// Work-item q takes query q. With -D HALVES, half a squared distance of rows of `dims` columns is compared
// with low - product, where the query's own part is missing; otherwise the value itself is compared. With
// -D BOUNDS the k-th best is `high` of a candidate (candidates.cl), else the value of a chain.
// docs/certificate.md, section 4.
#include "bounds.cl"

// Rows of the facts, as in spi.hpp.
#define HALF_NORM 0
#define NORM 1

// A chain is at most U where half the exact distance is at most (U + dims 2^-149) / (1 - g) / 2.
float theta_of_chain(float value, uint dims, float half_norm) {
  if (isinf(value)) return INFINITY;
#if DOUBLES
  const double b = (dims + 2) * 0x1p-24, g = b / (1 - b);
  const double half_value = 0.5 * (value + dims * 0x1p-149) / (1 - g);
  return round_up(half_value - half_norm + (half_value + half_norm) * 0x1p-49);
#else
  const float half_value =
      0.5f * value * (1.0f + (float)(2 * dims + 16) * 0x1p-24f) + (float)dims * 0x1p-140f;
  return half_value - half_norm + (half_value + half_norm) * 0x1p-22f;
#endif
}

// A chain is not behind that of a row at most at `high` where the row is at most at
// (high (1 + g) + g |q'|^2 + dims 2^-149) / (1 - g).
float theta_of_bound(float high, uint dims, float norm) {
  if (isinf(high)) return INFINITY;
#if DOUBLES
  const double b = (dims + 2) * 0x1p-24, g = b / (1 - b), square = (double)norm * norm;
  const double sum = (high * (1 + g) + g * square + dims * 0x1p-149) / (1 - g);
  return round_up(sum + (fabs(high) + square) * 0x1p-48);
#else
  // The same is high + c (2 high + |q'|^2) and hardly more, c = b / (1 - 2 b) = b (1 + 2 b / (1 - 2 b)). Less
  // than seven roundings of the second part and two of the sum are below 2^-21 of both.
  const float b = (float)(dims + 2) * 0x1p-24f, c = fma(b, 2 * b / (1 - 2 * b), b), square = norm * norm;
  const float more = c * (2 * high + square) + (float)dims * 0x1p-140f;
  return high + (more + (fabs(high) + c * square) * 0x1p-21f);
#endif
}

kernel void kith_tighten_theta(global const Key* restrict best, ulong best_first, ulong best_stride,
                               uint q_rows, uint k, global uint* restrict counts, ulong counts_first,
                               ulong counts_stride, uint capacity, global uint* restrict lost,
                               ulong lost_first, ulong lost_stride, uint dims,
                               global const float* restrict facts, ulong facts_first, ulong facts_stride,
                               global float* restrict theta, ulong theta_first, ulong theta_stride) {
  const ulong q = get_global_id(0);
  if (q >= q_rows) return;
  const float value = value_of(best[best_first + q * best_stride + k - 1]);
  facts += facts_first + q;
  theta += theta_first + q * theta_stride;
  global uint* count = counts + counts_first + q * counts_stride;
  if (*count > capacity) lost[lost_first + q * lost_stride] = 1;
#ifdef BOUNDS
#ifdef HALVES
  *theta = fmin(*theta, theta_of_bound(value, dims, facts[NORM * facts_stride]));
#else
  *theta = fmin(*theta, value);
#endif
#else
#ifdef HALVES
  *theta = theta_of_chain(value, dims, facts[HALF_NORM * facts_stride]);
#else
  *theta = value;
#endif
  *count = 0;
#endif
}
