// prune: keep of each list the candidates whose `low` is at most theta, in any order.
//
//   theta                      [q]   stride in elements
//   rows, counts, lows, highs        candidates.cl; a count above the capacity counts as the capacity
//
// Work-group q of GROUP items takes list q, GROUP places at a time: when all of them have been read, what is
// kept of them is written to the first free places, none of which is behind them.
// Work: a comparison a candidate, and 16 bytes read and written for what is kept; a barrier every GROUP.
#include "candidates.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_prune(
    global const float* restrict theta_of, ulong theta_first, ulong theta_stride, CANDIDATES) {
  local uint kept[1];
  const uint lid = (uint)get_local_id(0);
  const ulong q = get_group_id(0);
  const float theta = theta_of[theta_first + q * theta_stride];
  const uint many = min(capacity, *COUNT_OF(q));
  rows += rows_first + q * rows_stride;
  lows += lows_first + q * lows_stride;
  highs += highs_first + q * highs_stride;
  if (lid == 0) kept[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (uint j0 = 0; j0 < many; j0 += GROUP) {
    const uint j = j0 + lid;
    const float low = j < many ? lows[j] : NAN;
    const bool near = low <= theta;
    const uint row = near ? rows[j] : 0;
    const Key high = near ? highs[j] : 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (near) {
      const uint place = atomic_inc(kept);
      rows[place] = row;
      lows[place] = low;
      highs[place] = high;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0) *COUNT_OF(q) = kept[0];
}
