// select, merge_sort: sorts (value, row) pairs by a merge sort.
//
//   distances [q, t]                     row-major, stride in elements, NaN only if masked
//   out       [q, lists, blocks, keep]   keys, ascending in each run, padded with NO_KEY
//
// Runs of eight are sorted in registers, and merged in pairs in local memory until a block is one run: a
// work-item finds where its eight keys of a merged run come from (merge path), and merges them one by one. A
// round reads one half of local memory, writes the other, and ends with a barrier. kith_merge_runs
// (merge_runs.cl) continues in the same way in global memory. No run is kept longer than k.
// Work: about t log2(t) comparisons, and in each round 3 + log2(run) for the binary search of eight keys.
// Local memory: two keys per place. Global memory: t keys, and half as many more. Source: the merge sort of
// knn03: Batlle, Ballber, 2020; merge path: Odeh, Green, Mwassi, Shmueli, Birk, 2012.
#include "merge/merge_local.cl"

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_merge_sort(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    ulong all_lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at,
    local Key* one, local Key* other) {
  const uint items = GROUP == 1 ? size / EACH : GROUP, a_block = size / EACH;
  const ulong first_job = get_group_id(0) * (ulong)(items / a_block);
  for (uint i = (uint)get_local_id(0); i < items; i += GROUP) {
    const Block block =
        block_of(distances + distances_at.first, distances_at.stride, columns, first_row, lists, all_lists,
                 first_job + i / a_block, blocks, size, keep, out_at.stride);
    Key each[EACH];
    load_keys(&block, i % a_block, a_block, each);
    sort_each(each);
#pragma unroll
    for (uint r = 0; r < EACH; ++r) one[PLACE(i * EACH + r)] = each[r];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  local Key* from = one;
  local Key* to = other;
  for (uint run = EACH; run < size; run *= 2) {
    merge_round(from, to, items * EACH, run);
    local Key* merged = to;
    to = from;
    from = merged;
  }
  for (uint i = (uint)get_local_id(0); i < items; i += GROUP) {
    const Block block =
        block_of(distances + distances_at.first, distances_at.stride, columns, first_row, lists, all_lists,
                 first_job + i / a_block, blocks, size, keep, out_at.stride);
    if (!block.exists) continue;
    for (uint j = i % a_block; j < keep; j += a_block)
      out[out_at.first + block.out + j] = from[PLACE(i / a_block * size + j)];
  }
}
