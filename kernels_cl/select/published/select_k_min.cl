// select, k_min: finds the smallest by a tournament, k times.
//
//   distances [q, t]                     row-major, stride in elements, NaN only if masked
//   out       [q, lists, blocks, keep]   keys, ascending in each list, padded with NO_KEY; merge.cl merges
//                                        the blocks of a list
//
// In a round of a tournament each key of the lower half is compared with one of the upper half; the smaller
// goes to the lower half, which plays the next round. A key without a partner wins. The last key left is the
// smallest: it is removed, and the rest play again, k times. A list of more than 1024 values is cut into
// blocks, one for each work-group, whose results are merged. Source: the selection for small k of GS_KNN:
// Liu, Zheng, Liu, Journal of Chinese Computer Systems 40(6), 2019.
#include "common/runs.cl"

// Plays three rounds among eight keys.
void play_each(Key* keys) {
  order_keys(keys, keys + 4), order_keys(keys + 1, keys + 5);
  order_keys(keys + 2, keys + 6), order_keys(keys + 3, keys + 7);
  order_keys(keys, keys + 2), order_keys(keys + 1, keys + 3);
  order_keys(keys, keys + 1);
}

#if GROUP > 1

#define LAST (GROUP / EACH)  // number of keys that one item plays to the end

// Work-group w handles block w of EACH * GROUP places. Key lid + r GROUP is in the registers of item lid,
// which plays the first three rounds; three more are played among the items' winners, in local memory, and
// item 0 alone plays the last ones. Losers stay where they lost. A removed key becomes NO_KEY, which loses
// every round; so does a missing partner.
// Work: 8 GROUP - 1 compare-exchanges and three barriers per tournament. Local memory: GROUP keys.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_k_min(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    ulong all_lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at) {
  local Key winners[GROUP];
  const uint lid = (uint)get_local_id(0);
  const Block block = block_of(distances + distances_at.first, distances_at.stride, columns, first_row, lists,
                               all_lists, get_group_id(0), blocks, size, keep, out_at.stride);
  global Key* list = out + out_at.first + block.out;
  Key mine[EACH];
  load_keys(&block, lid, GROUP, mine);
  const uint found = min(keep, block.width);
  for (uint j = 0; j < found; ++j) {
    play_each(mine);
    winners[lid] = mine[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid < LAST) {
      Key met[EACH];
#pragma unroll
      for (uint r = 0; r < EACH; ++r) met[r] = winners[lid + r * LAST];
      play_each(met);
#pragma unroll
      for (uint r = 0; r < EACH; ++r) winners[lid + r * LAST] = met[r];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) {
      Key met[LAST];
#pragma unroll
      for (uint r = 0; r < LAST; ++r) met[r] = winners[r];
#pragma unroll
      for (uint side = LAST / 2; side > 0; side /= 2) {
#pragma unroll
        for (uint r = 0; r < side; ++r) order_keys(met + r, met + r + side);
      }
      list[j] = met[0];
      met[0] = NO_KEY;
#pragma unroll
      for (uint r = 0; r < LAST; ++r) winners[r] = met[r];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    mine[0] = winners[lid];
  }
  for (uint j = found + lid; j < keep; j += GROUP) list[j] = NO_KEY;
}

#else

// For CPU devices, whose vectors compare neighbouring pairs: work-item w handles block w, in local memory.
// Removed keys are behind the rest. The key without a partner is in the middle, and does not move.
// Work: i - 1 compare-exchanges for a tournament of i keys. Local memory: one key per place. No barrier.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_select_k_min_lanes(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    ulong all_lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at,
    local Key* keys) {
  const Block block = block_of(distances + distances_at.first, distances_at.stride, columns, first_row, lists,
                               all_lists, get_group_id(0), blocks, size, keep, out_at.stride);
  global Key* list = out + out_at.first + block.out;
  for (uint i = 0; i < block.width; ++i) keys[i] = key_at(&block, i);
  uint players = block.width;
  for (uint j = 0; j < keep; ++j) {
    for (uint left = players; left > 1;) {
      const uint pairs = left / 2;
      left -= pairs;
      for (uint i = 0; i < pairs; ++i) {
        const Key x = keys[i], y = keys[left + i];
        keys[i] = min(x, y);
        keys[left + i] = max(x, y);
      }
    }
    list[j] = players > 0 ? keys[0] : NO_KEY;
    if (players > 0) keys[0] = keys[--players];
  }
}

#endif
