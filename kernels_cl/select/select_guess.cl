// select, threshold, for long lists: a guessed bound, the keys that pass it, and the k smallest of these.
//
//   distances [q, t]            row-major, stride in elements, NaN only if masked
//   passed    [q, lists, room]  keys that passed, in no order; behind them in the same memory
//   bounds    [q, lists]        values; some k to 2 k columns are at most as large
//   counts    [q, lists]        of keys that passed; above `room`, some had no place
//   out       [q, lists * k]    keys, ascending in each list, padded with NO_KEY
//
// The bound of a list comes from a 32nd of its columns. Then all columns are read once, in slices, of which a
// work-group takes one. Last, a work-group selects among the keys of a list. If fewer than k passed, or more
// than there is room for, it selects among the columns, as if nothing had been guessed.
// Work: every distance is read once, a 32nd of them twice.
// Source: Floyd, Rivest, Expected time bounds for selection, 1975.
// No twin in kernels_cuda: select_threshold.cu and guess.cuh have it.
#include "select/select_columns.cl"

#define SAMPLED 32u           // neighbouring columns of a sample: a line of memory,
#define SAMPLE_COLUMNS 1024u  // of so many
#define KEPT 512u             // keys of a slice that wait in local memory

// This is PassedSizes in select.cpp of the back end.
typedef struct {
  ulong lists;  // of all queries
  uint room;
} Passed;

global float* bounds_of(global Key* passed, const Passed sizes) {
  return (global float*)(passed + sizes.lists * sizes.room);
}
global uint* counts_of(global Key* passed, const Passed sizes) {
  return (global uint*)(bounds_of(passed, sizes) + sizes.lists);
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_guess(
    global const float* restrict distances, Place distances_at, uint columns, uint rank, uint lists,
    const Shortlist shortlist, global Key* passed, const Passed sizes, LISTS Key* list) {
  local uint count[1];
  const uint g = (uint)get_group_id(0), lid = (uint)get_local_id(0);
  const ulong q = get_group_id(1);
  global const float* row = distances + distances_at.first + q * distances_at.stride;
  const uint begin = first_column(g, columns, lists), end = first_column(g + 1, columns, lists);
  LISTS Key* buffer = list + shortlist.list_size;
  shortlist_start(list, shortlist.list_size, count, 1);
  barrier(LISTS_FENCE);
  Key bound = NO_KEY;
  const ulong step = (ulong)GROUP / SAMPLED * SAMPLE_COLUMNS * VALUES;
  for (ulong t0 = begin; t0 < end; t0 += step) {
    for (uint i = 0; i < VALUES; ++i) {
      const ulong t = t0 + (ulong)(i * (GROUP / SAMPLED) + lid / SAMPLED) * SAMPLE_COLUMNS + lid % SAMPLED;
      const float mine = t < end ? row[t] : NAN;
      if (!(mine <= value_of(bound))) continue;
      const Key key = make_key(mine, (uint)t);
      if (key < bound) buffer[atomic_inc(count)] = key;
    }
    bound = bound_after_step(list, shortlist, count, rank, t0 + step >= end, bound);
  }
  if (lid != 0) return;
  bounds_of(passed, sizes)[q * lists + g] = value_of(bound);
  counts_of(passed, sizes)[q * lists + g] = 0;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_filter(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    uint slice_columns, global Key* passed, const Passed sizes) {
  local uint count[1], first[1];
  local Key kept[KEPT];
  const uint slices = (uint)get_num_groups(0) / lists, lid = (uint)get_local_id(0);
  const uint g = (uint)get_group_id(0) / slices, slice = (uint)get_group_id(0) % slices;
  const ulong q = get_group_id(1), at = q * lists + g;
  global const float* row = distances + distances_at.first + q * distances_at.stride;
  const ulong begin = first_column(g, columns, lists) + (ulong)slice * slice_columns;
  const ulong end = min(begin + slice_columns, (ulong)first_column(g + 1, columns, lists));
  const float limit = bounds_of(passed, sizes)[at];
  global Key* to = passed + at * sizes.room;
  global uint* all = counts_of(passed, sizes) + at;
  if (lid == 0) count[0] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (ulong t0 = begin; t0 < end; t0 += GROUP * VALUES) {
    float mine[VALUES];
    if (!read_step(mine, row, t0, end, limit)) continue;
    for (uint i = 0; i < VALUES; ++i) {
      if (!(mine[i] <= limit)) continue;
      const Key key = make_key(mine[i], first_row + (uint)t0 + i * GROUP + lid);
      const uint place = atomic_inc(count);
      if (place < KEPT) {
        kept[place] = key;
        continue;
      }
      const uint further = atomic_inc(all);
      if (further < sizes.room) to[further] = key;
    }
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  const uint here = min(count[0], KEPT);
  if (lid == 0) first[0] = here > 0 ? atomic_add(all, here) : 0;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lid; i < here; i += GROUP)
    if (first[0] + i < sizes.room) to[first[0] + i] = kept[i];
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_passed(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint k,
    uint lists, const Shortlist shortlist, global Key* passed, const Passed sizes, global Key* restrict out,
    Place out_at, LISTS Key* list) {
  local uint count[1];
  const uint g = (uint)get_group_id(0), lid = (uint)get_local_id(0);
  const ulong q = get_group_id(1), at = q * lists + g;
  const uint found = counts_of(passed, sizes)[at];
  if (found < k || found > sizes.room) {
    global const float* row = distances + distances_at.first + q * distances_at.stride;
    select_columns(row, first_column(g, columns, lists), first_column(g + 1, columns, lists), first_row, k,
                   shortlist, list, count);
  } else {
    LISTS Key* buffer = list + shortlist.list_size;
    shortlist_start(list, shortlist.list_size, count, 1);
    barrier(LISTS_FENCE);
    Key bound = NO_KEY;
    for (uint i0 = 0; i0 < found; i0 += GROUP * VALUES) {
      for (uint i = i0 + lid; i < min(found, i0 + GROUP * VALUES); i += GROUP) {
        const Key key = passed[at * sizes.room + i];
        if (key < bound) buffer[atomic_inc(count)] = key;
      }
      bound = bound_after_step(list, shortlist, count, k, i0 + GROUP * VALUES >= found, bound);
    }
  }
  put_list(list, k, out + out_at.first + q * out_at.stride + (ulong)g * k);
}
