// What tighten tells of a query beside its k best, when they are known.
//
//   counts     [q]      in; 0 afterwards, with -D BOUNDS as before, stride in elements
//   lost       [q]      becomes 1 where counts is above the capacity, and with -D GUESSED where the threshold
//                       becomes larger than it was, else stays, stride in elements
//   row_terms  [4, q]   with -D HALVES: of the quantized queries, stride in elements
//   threshold  [q]      rounded up, stride in elements; with -D BOUNDS in and out: it never grows
// No twin in kernels_cuda: threshold.cuh has what it does.
#include "bound/threshold.cl"

#define SETTLEMENT                                                                           \
  global uint *restrict lost, ulong lost_first, ulong lost_stride, uint dims,                \
      global const float *restrict row_terms, ulong row_terms_first, ulong row_terms_stride, \
      global float *restrict threshold, ulong threshold_first, ulong threshold_stride

// By one work-item a query.
//   value  of the k-th: of a chain, or with -D BOUNDS `high` of a candidate (candidates.cl)
//   count  of query q
void settle(ulong q, float value, global uint* count, uint capacity, SETTLEMENT) {
  row_terms += row_terms_first + q;
  threshold += threshold_first + q * threshold_stride;
  if (*count > capacity) lost[lost_first + q * lost_stride] = 1;
#ifdef BOUNDS
  *threshold = threshold_by_bound(*threshold, value, dims, row_terms, row_terms_stride);
#else
  const float found = threshold_by_chain(value, dims, row_terms, row_terms_stride);
#ifdef GUESSED
  if (found > *threshold) lost[lost_first + q * lost_stride] = 1;
#endif
  *threshold = found;
  *count = 0;
#endif
}
