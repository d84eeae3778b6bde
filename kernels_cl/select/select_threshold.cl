// select, threshold: filters values by the k-th key so far; keys that pass go to a buffer, which is sorted
// and merged when it is full enough.
//
//   distances [q, t]            row-major, stride in elements, NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with NO_KEY
//
// Work-group (g, q) of GROUP items reads its part of row q, GROUP * VALUES values per step. A step ends with
// two barriers, after which the buffer has room for the next one. Local memory: list_size + capacity keys,
// capacity >= merge_at + GROUP * VALUES. If k is too large for that, these are in scratch instead (-D
// LISTS_IN_SCRATCH), with `part` keys for each list of each query.
// Work: t comparisons; in random order about k (1 + ln(t / (lists k))) keys pass. Source: see shortlist.cl.
#include "common/shortlist.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_threshold(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint k,
    uint lists, const Shortlist shortlist, global Key* restrict out, Place out_at, LISTS Key* memory,
    ulong part) {
  const uint list_size = shortlist.list_size, capacity = shortlist.capacity, merge_at = shortlist.merge_at;
  local uint count[1];
  const uint lid = (uint)get_local_id(0), g = (uint)get_group_id(0);
  const ulong q = get_group_id(1);
  LISTS Key* list = memory + (q * lists + g) * part;
  LISTS Key* buffer = list + list_size;
  global const float* row = distances + distances_at.first + q * distances_at.stride;
  const uint begin = first_column(g, columns, lists), end = first_column(g + 1, columns, lists);
  shortlist_start(list, list_size, count, 1);
  barrier(LISTS_FENCE);

  Key bound = NO_KEY;
  float value = INFINITY;  // value of the bound
  for (ulong t0 = begin; t0 < end; t0 += GROUP * VALUES) {
    float mine[VALUES];
    bool near = false;
#pragma unroll
    for (uint i = 0; i < VALUES; ++i) {
      const ulong t = t0 + i * GROUP + lid;
      mine[i] = t < end ? row[t] : NAN;
    }
#pragma unroll
    for (uint i = 0; i < VALUES; ++i) near |= mine[i] <= value;
    if (near) {
      for (uint i = 0; i < VALUES; ++i) {
        if (!(mine[i] <= value)) continue;
        const Key key = make_key(mine[i], first_row + (uint)t0 + i * GROUP + lid);
        if (key < bound) buffer[atomic_inc(count)] = key;
      }
    }
    barrier(LISTS_FENCE);
    const bool full = count[0] >= merge_at || t0 + GROUP * VALUES >= end;
    barrier(LISTS_FENCE);
    if (full) {
      shortlist_merge(list, list_size, buffer, capacity, count, 1);
      bound = list[k - 1];
      value = value_of(bound);
    }
  }
  for (uint j = lid; j < k; j += GROUP) out[out_at.first + q * out_at.stride + (ulong)g * k + j] = list[j];
}
