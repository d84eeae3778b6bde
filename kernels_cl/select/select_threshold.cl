// select, threshold: filters values by the k-th key so far; keys that pass go to a buffer, which is sorted
// and merged when it is full enough. Long lists have a guessed bound (select_guess.cl).
//
//   distances [q, t]            row-major, stride in elements, NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with NO_KEY
//
// Work-group (g, q) of GROUP items reads its part of row q, GROUP * VALUES values per step. A step ends with
// two barriers, after which the buffer has room for the next one. Local memory: list_size + capacity keys,
// capacity >= merge_at + GROUP * VALUES. If k is too large for that, these are in scratch instead (-D
// LISTS_IN_SCRATCH), with `part` keys for each list of each query.
// Work: t comparisons; in random order about k (1 + ln(t / (lists k))) keys pass. Source: see shortlist.cl.
#include "select/select_columns.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_threshold(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint k,
    uint lists, const Shortlist shortlist, global Key* restrict out, Place out_at, LISTS Key* memory,
    ulong part) {
  local uint count[1];
  const uint g = (uint)get_group_id(0);
  const ulong q = get_group_id(1);
  LISTS Key* list = memory + (q * lists + g) * part;
  global const float* row = distances + distances_at.first + q * distances_at.stride;
  select_columns(row, first_column(g, columns, lists), first_column(g + 1, columns, lists), first_row, k,
                 shortlist, list, count);
  put_list(list, k, out + out_at.first + q * out_at.stride + (ulong)g * k);
}
