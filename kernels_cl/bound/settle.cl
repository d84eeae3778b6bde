// The last part of tighten: computes the threshold of a query from its k best, and updates its count.
//
//   counts     [q]      in; becomes 0, but with -D BOUNDS does not change
//   lost       [q]      becomes 1 if counts is above the capacity, or with -D GUESSED if the threshold grows
//   row_terms  [4, q]   with -D HALVES: of the quantized queries
//   threshold  [q]      rounded up; with -D BOUNDS in and out: it never grows
// No twin in kernels_cuda: threshold.cuh has this.
#include "bound/threshold.cl"

// The places of these, and the number of columns of the rows. This is Settled in tighten.hpp of the back end.
typedef struct {
  Place lost, row_terms, threshold;
  uint dims;
} Settled;

#define SETTLEMENT                                                                                      \
  global uint *restrict lost, global const float *restrict row_terms, global float *restrict threshold, \
      const Settled settled

// Passes these on in a call.
#define SETTLEMENT_HERE lost, row_terms, threshold, settled

// One work-item per query calls this.
//   value  value of the k-th: a chain, or with -D BOUNDS `high` of a candidate (candidates.cl)
//   count  of query q
void settle(ulong q, float value, global uint* count, uint capacity, SETTLEMENT) {
  global uint* const is_lost = lost + settled.lost.first + q * settled.lost.stride;
  row_terms += settled.row_terms.first + q;
  threshold += settled.threshold.first + q * settled.threshold.stride;
  if (*count > capacity) *is_lost = 1;
#ifdef BOUNDS
  *threshold = threshold_by_bound(*threshold, value, settled.dims, row_terms, settled.row_terms.stride);
#else
  const float found = threshold_by_chain(value, settled.dims, row_terms, settled.row_terms.stride);
#ifdef GUESSED
  if (found > *threshold) *is_lost = 1;
#endif
  *threshold = found;
  *count = 0;
#endif
}
