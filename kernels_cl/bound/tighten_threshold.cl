// The last kernel of tighten if merging takes several: computes the threshold from the k-th best value.
//
//   best    [q, k]   ascending, padded with NO_KEY, stride in elements
//
// counts, lost, row terms and the threshold are those of settle.cl. Work-item q handles query q.
// No twin in kernels_cuda: there the last kernel that merges computes the threshold, too (tighten.cu).
#include "bound/settle.cl"

kernel void kith_tighten_threshold(global const Key* restrict best, Place best_at, uint q_rows, uint k,
                                   global uint* restrict counts, Place counts_at, uint capacity, SETTLEMENT) {
  const ulong q = get_global_id(0);
  if (q >= q_rows) return;
  const float value = value_of(best[best_at.first + q * best_at.stride + k - 1]);
  settle(q, value, counts + counts_at.first + q * counts_at.stride, capacity, SETTLEMENT_HERE);
}
