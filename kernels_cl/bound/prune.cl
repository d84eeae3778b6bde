// prune: removes from each list the candidates whose lower bound `low` is above the query's threshold. The
// order of the others may change.
//
//   threshold                      [q]   stride in elements
//   rows, counts, lows, highs        see candidates.cl; a count above the capacity is read as the capacity
//
// Work-group q of GROUP items handles list q, with EACH places per item at a time (-D EACH). When all of
// these are read, the candidates that stay are written to the first free places; none of these lies behind a
// place that is still unread. With -D ONLY_ROWS bounds do not follow their candidates.
// Work: one comparison per candidate, and 16 or 4 bytes read and written for each that stays; one atomic
// addition per item and one barrier for every GROUP * EACH places.
#include "propose/candidates.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_prune(
    global const float* restrict threshold_of, Place threshold_at, CANDIDATES) {
  local uint kept[1];
  const uint lid = (uint)get_local_id(0);
  const ulong q = get_group_id(0);
  const float threshold = threshold_of[threshold_at.first + q * threshold_at.stride];
  const uint many = min(lists.capacity, *COUNT_OF(q));
  rows += lists.rows.first + q * lists.rows.stride;
  lows += lists.lows.first + q * lists.lows.stride;
  highs += lists.highs.first + q * lists.highs.stride;
  if (lid == 0) kept[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (uint j0 = 0; j0 < many; j0 += GROUP * EACH) {
    float low[EACH];
    uint row[EACH], near = 0;
    Key high[EACH];
#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      const uint j = j0 + i * GROUP + lid;
      low[i] = j < many ? lows[j] : NAN;
    }
#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      const uint j = j0 + i * GROUP + lid;
      const bool is_near = low[i] <= threshold;
      row[i] = is_near ? rows[j] : 0;
#ifndef ONLY_ROWS
      high[i] = is_near ? highs[j] : 0;
#endif
      near += is_near;
    }
    uint place = near > 0 ? atomic_add(kept, near) : 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
#pragma unroll
    for (uint i = 0; i < EACH; ++i) {
      if (!(low[i] <= threshold)) continue;
      rows[place] = row[i];
#ifndef ONLY_ROWS
      lows[place] = low[i];
      highs[place] = high[i];
#endif
      ++place;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid == 0) *COUNT_OF(q) = kept[0];
}
