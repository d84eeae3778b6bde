// prune, for CPU devices: removes from each list the candidates whose lower bound `low` is above the query's
// threshold. The order of the others does not change.
//
//   threshold                      [q]   stride in elements
//   rows, counts, lows, highs        see candidates.cl; a count above the capacity is read as the capacity
//
// Work-item q handles list q. Work: one comparison per candidate, and a copy of each that stays.
// No twin in kernels_cuda: CUDA has no CPU devices.
#include "propose/candidates.cl"

kernel void kith_prune_lanes(global const float* restrict threshold_of, Place threshold_at, CANDIDATES) {
  const ulong q = get_global_id(0);
  const float threshold = threshold_of[threshold_at.first + q * threshold_at.stride];
  const uint many = min(lists.capacity, *COUNT_OF(q));
  rows += lists.rows.first + q * lists.rows.stride;
  lows += lists.lows.first + q * lists.lows.stride;
  highs += lists.highs.first + q * lists.highs.stride;
  uint kept = 0;
  for (uint j = 0; j < many; ++j) {
    if (!(lows[j] <= threshold)) continue;
    rows[kept] = rows[j];
    lows[kept] = lows[j];
    highs[kept++] = highs[j];
  }
  *COUNT_OF(q) = kept;
}
