// select by local sort: blocks of 256 sorted whole, k of each kept, the blocks' lists merged.
//
//   distances [q, t]                  row-major, stride in elements, NaN only where masked
//   out       [q, groups, blocks, k]  keys, ascending in each list, padded with NO_KEY; merge.cl makes
//                                     one list of those of a group
//
// A block of 256 is sorted by 32 work-items with eight keys each; a work-group has several blocks. The
// sort is the bitonic network (network.cl), whose 36 steps are 19 compare-exchanges in registers, for
// the first 6, and then 12 rounds in local memory, with a barrier each.
// Work: 17 compare-exchanges a value, whatever k. Local memory: 2176 bytes a block.
// Source: Liang, Liu, Wang, Jian, CUKNN, 2009.
#include "select/published/network.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_local_sort(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint groups,
    ulong lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at, local Key* keys) {
  sort_blocks(distances + distances_at.first, distances_at.stride, columns, first_row, groups, lists, blocks,
              size, keep, out + out_at.first, out_at.stride, keys);
}
