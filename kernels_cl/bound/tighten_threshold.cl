// tighten, last kernel where joining takes several: what still counts as near, from the k-th best value so
// far.
//
//   best    [q, k]   ascending, padded with NO_KEY, stride in elements
//
// counts, lost, row terms and the threshold as in settle.cl. Work-item q takes query q.
// No twin in kernels_cuda: the last kernel that joins finds the threshold, too (tighten.cu).
#include "bound/settle.cl"

kernel void kith_tighten_threshold(global const Key* restrict best, Place best_at, uint q_rows, uint k,
                                   global uint* restrict counts, Place counts_at, uint capacity, SETTLEMENT) {
  const ulong q = get_global_id(0);
  if (q >= q_rows) return;
  const float value = value_of(best[best_at.first + q * best_at.stride + k - 1]);
  settle(q, value, counts + counts_at.first + q * counts_at.stride, capacity, SETTLEMENT_HERE);
}
