// select by k-min search: a tournament for the smallest, k times.
//
//   distances [q, t]                     row-major, stride in elements, NaN only where masked
//   out       [q, groups, blocks, keep]  keys, ascending in each list, padded with NO_KEY; merge.cl
//                                        makes one list of those of a group
//
// In a round of a tournament each key of the lower half meets one of the upper half; the smaller goes
// to the lower half, which plays the next round. A key without a partner passes on. When one is left
// it is the smallest: it leaves, and the rest play again, k times. A list of more than 1024 values is
// cut into blocks, a work-group each, whose results are merged.
// Source: the selection for small k of GS_KNN: Liu, Zheng, Liu, Journal of Chinese Computer Systems
// 40(6), 2019.
#include "common/runs.cl"

// Three rounds among eight keys.
void play_each(Key* keys) {
  order_keys(keys, keys + 4), order_keys(keys + 1, keys + 5);
  order_keys(keys + 2, keys + 6), order_keys(keys + 3, keys + 7);
  order_keys(keys, keys + 2), order_keys(keys + 1, keys + 3);
  order_keys(keys, keys + 1);
}

#if GROUP > 1

#define LAST (GROUP / EACH)  // keys that one item plays to the end

// Work-group w has block w of EACH * GROUP places. Key lid + r GROUP is with item lid, in registers,
// where the first three rounds are played; three more are among the items' winners, in local memory,
// and the last ones item 0 plays alone. Losers stay where they lost. What has left is NO_KEY from then
// on, and so is a partner who is missing: it loses every round.
// Work: 8 GROUP - 1 compare-exchanges and three barriers a tournament. Local memory: GROUP keys.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_k_min(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint groups,
    ulong lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at) {
  local Key winners[GROUP];
  const uint lid = (uint)get_local_id(0);
  const Block block = block_of(distances + distances_at.first, distances_at.stride, columns, first_row,
                               groups, lists, get_group_id(0), blocks, size, keep, out_at.stride);
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

// Work-item w has block w, in local memory: for CPU devices, whose vectors compare neighbouring pairs.
// What has left stands behind the rest. The one without a partner is in the middle, where it
// may stay.
// Work: i - 1 compare-exchanges for a tournament of i. Local memory: a key a place. No barrier.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_select_k_min_lanes(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint groups,
    ulong lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at, local Key* keys) {
  const Block block = block_of(distances + distances_at.first, distances_at.stride, columns, first_row,
                               groups, lists, get_group_id(0), blocks, size, keep, out_at.stride);
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
