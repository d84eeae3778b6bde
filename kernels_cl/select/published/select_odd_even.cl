// select, odd_even: sorts by odd-even transposition, which is a parallel bubble sort.
//
//   distances [q, t]                     row-major, stride in elements, NaN only if masked
//   out       [q, lists, blocks, keep]   keys, ascending in each block, padded with NO_KEY
//
// Neighbours 0 and 1, 2 and 3, ... are compare-exchanged, then 1 and 2, 3 and 4, ..., in turn, until no value
// moves; t phases are enough for t values. A list that does not fit is cut into blocks of `size`, which are
// sorted this way; then neighbouring blocks are merged and split, also in turn (kith_merge_split), in at most
// as many phases as there are blocks. Source: Habermann, Parallel neighbor-sort, 1972; in blocks: Baudet,
// Stevenson, Optimal sorting algorithms for parallel computers, 1978.
#include "merge/merge_local.cl"

#if GROUP > 1

// An item has EACH neighbouring keys in registers. Within these, two phases cost only their seven
// compare-exchanges. At a border both items make the same compare-exchange, each for its own key, with the
// key that the other wrote to local memory before the round's only barrier. A work-group handles several
// short lists.
// Work: for lists of t' places up to t' / 2 rounds of two phases, with 9 compare-exchanges and a barrier
// each; t'^2 / 2 useful compare-exchanges in all. Local memory: 4 keys per item.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_odd_even(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    ulong all_lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at) {
  local Key lowest[2][GROUP], highest[2][GROUP];  // keys of each item, for even and odd rounds
  local uint moves[3];                            // whether any key moved, by round modulo 3
  const uint lid = (uint)get_local_id(0), a_block = size / EACH, item = lid % a_block;
  const Block block =
      block_of(distances + distances_at.first, distances_at.stride, columns, first_row, lists, all_lists,
               get_group_id(0) * (ulong)(GROUP / a_block) + lid / a_block, blocks, size, keep, out_at.stride);
  Key mine[EACH];
#pragma unroll
  for (uint r = 0; r < EACH; ++r) mine[r] = key_at(&block, item * EACH + r);
  if (lid < 3) moves[lid] = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  bool sorted = false;
  for (uint s = 0; s < size / 2 && !sorted; ++s) {
    const uint side = s % 2;
    bool moved = false;
#pragma unroll
    for (uint r = 0; r < EACH; r += 2) {
      moved |= mine[r + 1] < mine[r];
      order_keys(mine + r, mine + r + 1);
    }
    lowest[side][lid] = mine[0];
    highest[side][lid] = mine[EACH - 1];
#pragma unroll
    for (uint r = 1; r + 1 < EACH; r += 2) {
      moved |= mine[r + 1] < mine[r];
      order_keys(mine + r, mine + r + 1);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    sorted = s > 0 && moves[(s - 1) % 3] == 0;
    if (item + 1 < a_block) {
      const Key next = lowest[side][lid + 1];
      moved |= next < mine[EACH - 1];
      mine[EACH - 1] = min(mine[EACH - 1], next);
    }
    if (item > 0) mine[0] = max(mine[0], highest[side][lid - 1]);
    if (moved) moves[s % 3] = 1;
    if (lid == 0) moves[(s + 1) % 3] = 0;
  }
  if (!block.exists) return;
  global Key* list = out + out_at.first + block.out;
#pragma unroll
  for (uint r = 0; r < EACH; ++r)
    if (item * EACH + r < keep) list[item * EACH + r] = mine[r];
}

#else

// For CPU devices: work-item w handles block w. Keys at even and at odd places are stored separately, so that
// both phases compare vectors of neighbours. Work: as above, one phase after another. Local memory: one key
// per place. No barrier.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_select_odd_even_lanes(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint lists,
    ulong all_lists, uint blocks, uint size, uint keep, global Key* restrict out, Place out_at,
    local Key* restrict evens, local Key* restrict odds) {
  const Block block = block_of(distances + distances_at.first, distances_at.stride, columns, first_row, lists,
                               all_lists, get_group_id(0), blocks, size, keep, out_at.stride);
  const uint pairs = (block.width + 1) / 2;
  for (uint i = 0; i < pairs; ++i) {
    evens[i] = key_at(&block, 2 * i);
    odds[i] = key_at(&block, 2 * i + 1);
  }
  uint moved = 1;
  while (moved) {
    moved = 0;
    for (uint i = 0; i < pairs; ++i) {
      const Key x = evens[i], y = odds[i];
      moved |= y < x;
      evens[i] = min(x, y);
      odds[i] = max(x, y);
    }
    for (uint i = 1; i < pairs; ++i) {
      const Key x = odds[i - 1], y = evens[i];
      moved |= y < x;
      odds[i - 1] = min(x, y);
      evens[i] = max(x, y);
    }
  }
  global Key* list = out + out_at.first + block.out;
  for (uint j = 0; j < keep; ++j) list[j] = j >= 2 * pairs ? NO_KEY : j % 2 ? odds[j / 2] : evens[j / 2];
}

#endif

// A phase of the sort of blocks. Blocks 0 and 1, 2 and 3, ... of each list (phase 0), or 1 and 2, 3 and 4,
// ... (phase 1), are pairs; the lower block of a pair gets the smaller half of their keys. Work-group w
// handles pair w. If the pair is already in order, it only reads two keys.
// Work: 2 size comparisons. Local memory: 4 size keys. Two barriers.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_merge_split(global Key* keys, uint blocks,
                                                                                uint size, uint phase,
                                                                                local Key* from,
                                                                                local Key* to) {
  const uint lid = (uint)get_local_id(0), pairs = (blocks - phase) / 2;
  const ulong list = get_group_id(0) / pairs, pair = get_group_id(0) % pairs;
  global Key* both = keys + (list * blocks + phase + 2 * pair) * size;
  if (both[size - 1] > both[size]) {
    for (uint i = lid; i < 2 * size; i += GROUP) from[PLACE(i)] = both[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    merge_round(from, to, 2 * size, size);
    for (uint i = lid; i < 2 * size; i += GROUP) both[i] = to[PLACE(i)];
  }
}

// Writes the first k of each list of `total` keys. Work-item (j, list) writes key j.
kernel void kith_first_keys(global const Key* restrict from, ulong total, uint k, uint lists,
                            global Key* restrict out, Place out_at) {
  const ulong j = get_global_id(0), list = get_global_id(1);
  if (j < k) out[out_at.first + list / lists * out_at.stride + list % lists * k + j] = from[list * total + j];
}
