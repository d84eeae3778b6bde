// select, bitonic: pads each list to a power of two with NO_KEY, and sorts all of it.
//
//   distances [q, t]            row-major, stride in elements, NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with NO_KEY
//
// A list that fits into local memory is sorted there; a work-group takes several short ones. Of a longer
// list, runs of `size` are sorted there, and levels of twice the width follow in global memory:
// kith_bitonic_pass does the steps whose span is above the run, three at a time; kith_bitonic_clean does all
// others at once.
// Work: for lists padded to t', log2(t') (log2(t') + 1) / 2 steps of t' / 2 compare-exchanges; in local
// memory a barrier for every three steps of a level. Memory: t' keys. Source: the selection for large k of
// GS_KNN: Liu, Zheng, Liu, Journal of Chinese Computer Systems 40(6), 2019.
#include "select/published/network.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_bitonic(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    ulong all_lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at,
    local Key* keys) {
  sort_blocks(distances + distances_at.first, distances_at.stride, columns, first_row, lists, all_lists,
              blocks, size, keep, out + out_at.first, out_at.stride, keys);
}

// Does three steps on `total` keys. Item i has eight of these, `stride` apart. No barrier.
kernel void kith_bitonic_pass(global Key* keys, ulong total, ulong stride, uint mirrored) {
  const size_t i = get_global_id(0);
  if (i < total / EACH) pass_in_global(keys, i, stride, 3, mirrored != 0);
}

// Does the steps of span / 2 and less of a level. Work-group w has run w of `size` keys; `blocks` runs make a
// list, and `out` takes the first `keep` keys of each list.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_bitonic_clean(
    global const Key* from, uint blocks, uint size, uint span, uint lists, ulong keep, global Key* out,
    Place out_at, local Key* keys) {
  const ulong list = get_group_id(0) / blocks, begin = get_group_id(0) % blocks * size;
  const uint lid = (uint)get_local_id(0), left = (uint)min((ulong)size, keep - min(keep, begin));
  if (left > 0) {
    for (uint i = lid; i < size; i += GROUP) keys[PLACE(i)] = from[get_group_id(0) * (ulong)size + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    clean_run(keys, size / EACH, span);
    global Key* to = out + out_at.first + list / lists * out_at.stride + list % lists * keep + begin;
    for (uint i = lid; i < left; i += GROUP) to[i] = keys[PLACE(i)];
  }
}
