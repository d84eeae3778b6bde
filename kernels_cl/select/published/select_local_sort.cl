// select, local_sort: sorts blocks of 256, keeps k of each, and merges these.
//
//   distances [q, t]                  row-major, stride in elements, NaN only if masked
//   out       [q, lists, blocks, k]   keys, ascending in each list, padded with NO_KEY; merge.cl merges the
//                                     blocks of a list
//
// 32 work-items sort a block of 256, with eight keys each; a work-group handles several blocks. The sort is
// the bitonic network (network.cl). It has 36 steps: the first 6 are 19 compare-exchanges in registers; the
// others are 12 rounds in local memory, with a barrier each.
// Work: 17 compare-exchanges per value, for any k. Local memory: 2176 bytes per block. Source: Liang, Liu,
// Wang, Jian, CUKNN, 2009.
#include "select/published/network.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_local_sort(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    ulong all_lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at,
    local Key* keys) {
  sort_blocks(distances + distances_at.first, distances_at.stride, columns, first_row, lists, all_lists,
              blocks, size, keep, out + out_at.first, out_at.stride, keys);
}
