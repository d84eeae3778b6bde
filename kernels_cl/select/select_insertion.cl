// select, insertion: keeps `lists` sorted lists per query.
//
//   distances [q, t]            row-major, stride in elements, NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with NO_KEY
//
// Work-item (g, q) reads its part of row q, 16 values at a time, and inserts keys below the last of its list.
// The list is kept in `out`. No barrier, no local memory.
// Work: t reads; in random order k (1 + ln(t / (lists k))) insertions of up to k moves. Source: Garcia,
// Debreuve, Barlaud, Fast k nearest neighbor search using GPU, 2008.
#include "common/list.cl"

kernel void kith_select_insertion(global const float* restrict distances, Place distances_at, uint rows,
                                  uint columns, uint first_row, uint k, uint lists, global Key* restrict out,
                                  Place out_at) {
  const uint g = (uint)get_global_id(0), q = (uint)get_global_id(1);
  if (g >= lists || q >= rows) return;
  global const float* row = distances + distances_at.first + q * distances_at.stride;
  global Key* list = out + out_at.first + q * out_at.stride + (ulong)g * k;
  list_start(list, k);

  Key bound = NO_KEY;
  float value = INFINITY;  // value of the bound
  uint t = first_column(g, columns, lists);
  const uint end = first_column(g + 1, columns, lists);
  while (t < end) {
    const uint stop = min(end, t + 16);
    if (stop - t == 16 && !any(vload16(0, row + t) <= (float16)(value))) {
      t = stop;
      continue;
    }
    for (; t < stop; ++t) {
      const Key key = make_key(row[t], first_row + t);
      if (key >= bound) continue;
      insert_sorted(list, k, key);
      bound = list[k - 1];
      value = value_of(bound);
    }
  }
}
