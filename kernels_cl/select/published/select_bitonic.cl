// select by bitonic sort: a list padded to a power of two with NO_KEY and sorted whole.
//
//   distances [q, t]            row-major, stride in elements, NaN only where masked
//   out       [q, groups * k]   keys, ascending in each list, padded with NO_KEY
//
// A list that fits into local memory is sorted there, short ones several a work-group. Of a longer one
// runs of `size` are, and then levels of twice the width follow in global memory: steps of a span
// above the run three at a time by kith_bitonic_pass, all others at once by kith_bitonic_clean.
// Work: for lists padded to t', log2(t') (log2(t') + 1) / 2 steps of t' / 2 compare-exchanges; a
// barrier every three steps of a level in local memory. Memory: t' keys.
// Source: the selection for large k of GS_KNN: Liu, Zheng, Liu, Journal of Chinese Computer Systems
// 40(6), 2019.
#include "select/published/network.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_bitonic(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint groups,
    ulong lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at, local Key* keys) {
  sort_blocks(distances + distances_at.first, distances_at.stride, columns, first_row, groups, lists, blocks,
              size, keep, out + out_at.first, out_at.stride, keys);
}

// Three steps on `total` keys, of which item i has eight, `stride` apart. No barrier.
kernel void kith_bitonic_pass(global Key* keys, ulong total, ulong stride, uint mirrored) {
  const size_t i = get_global_id(0);
  if (i < total / EACH) pass_in_global(keys, i, stride, 3, mirrored != 0);
}

// The steps of span / 2 and less of a level. Work-group w has run w of `size` keys, `blocks` of which
// make a list; `out` takes the first `keep` keys of each list.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_bitonic_clean(
    global const Key* from, uint blocks, uint size, uint span, uint groups, ulong keep, global Key* out,
    Place out_at, local Key* keys) {
  const ulong list = get_group_id(0) / blocks, begin = get_group_id(0) % blocks * size;
  const uint lid = (uint)get_local_id(0), left = (uint)min((ulong)size, keep - min(keep, begin));
  if (left > 0) {
    for (uint i = lid; i < size; i += GROUP) keys[PLACE(i)] = from[get_group_id(0) * (ulong)size + i];
    barrier(CLK_LOCAL_MEM_FENCE);
    clean_run(keys, size / EACH, span);
    global Key* to = out + out_at.first + list / groups * out_at.stride + list % groups * keep + begin;
    for (uint i = lid; i < left; i += GROUP) to[i] = keys[PLACE(i)];
  }
}
