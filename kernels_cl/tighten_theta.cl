// tighten, last kernel: what still counts as near, from the k-th best value so far.
//
//   best    [q, k]   ascending, padded with NO_KEY, stride in elements
//   counts  [q]      in; 0 afterwards, with -D BOUNDS as before, stride in elements
//   lost    [q]      becomes 1 where counts is above the capacity, and with -D GUESSED where theta becomes
//                    larger than it was, else stays, stride in elements
//   facts   [4, q]   with -D HALVES: of the shadows of the queries, stride in elements
//   theta   [q]      rounded up, stride in elements; with -D BOUNDS in and out: it never grows
//
// Work-item q takes query q. With -D BOUNDS the k-th best is `high` of a candidate (candidates.cl), else the
// value of a chain.
#include "theta.cl"

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
  *theta = theta_by_bound(*theta, value, dims, facts, facts_stride);
#else
  const float found = theta_by_chain(value, dims, facts, facts_stride);
#ifdef GUESSED
  if (found > *theta) lost[lost_first + q * lost_stride] = 1;
#endif
  *theta = found;
  *count = 0;
#endif
}
