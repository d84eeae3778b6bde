// What tighten tells of a query beside its k best, when they are known.
//
//   counts  [q]      in; 0 afterwards, with -D BOUNDS as before, stride in elements
//   lost    [q]      becomes 1 where counts is above the capacity, and with -D GUESSED where theta becomes
//                    larger than it was, else stays, stride in elements
//   facts   [4, q]   with -D HALVES: of the shadows of the queries, stride in elements
//   theta   [q]      rounded up, stride in elements; with -D BOUNDS in and out: it never grows
// No twin in kernels_cuda: theta.cuh has what it does.
#include "bound/theta.cl"

#define SETTLEMENT                                                               \
  global uint *restrict lost, ulong lost_first, ulong lost_stride, uint dims,    \
      global const float *restrict facts, ulong facts_first, ulong facts_stride, \
      global float *restrict theta, ulong theta_first, ulong theta_stride

// By one work-item a query.
//   value  of the k-th: of a chain, or with -D BOUNDS `high` of a candidate (candidates.cl)
//   count  of query q
void settle(ulong q, float value, global uint* count, uint capacity, SETTLEMENT) {
  facts += facts_first + q;
  theta += theta_first + q * theta_stride;
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
