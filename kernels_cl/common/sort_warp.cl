// Sorts keys in the registers of a warp: only for NVIDIA's compiler, as warp.cl. No branch depends on the
// data. Source: Batcher, Sorting networks and their applications, 1968 (bitonic sort).
// No twin in kernels_cuda: sort.cuh has it.
#include "common/common.cl"
#include "common/tensor.cl"
#include "common/warp.cl"

// Writes out `handle(e)` for keys e = 0 ... each - 1 of an item; each is 4, 8 or 16. Places that are written
// out keep keys in registers: not every compiler unrolls such loops early enough.
#define FOR_FOUR(handle, from) handle(from), handle((from) + 1), handle((from) + 2), handle((from) + 3)
#define FOR_KEYS(handle, each)                                 \
  do {                                                         \
    FOR_FOUR(handle, 0);                                       \
    if ((each) > 4) FOR_FOUR(handle, 4);                       \
    if ((each) > 8) FOR_FOUR(handle, 8), FOR_FOUR(handle, 12); \
  } while (false)

// Compare-exchanges keys e and e + step of an item, if e has not the bit `step`; `rising` is the order where
// e has not the bit `size`.
ALL_INLINE void order_pair_of(Key* key, const uint size, const uint step, bool rising, const uint e) {
  if ((e & step) != 0) return;
  const Key a = key[e], b = key[e | step];
  const bool swap = (a > b) == (((e & size) == 0) == rising);
  key[e] = swap ? b : a;
  key[e | step] = swap ? a : b;
}

ALL_INLINE void order_pairs(Key* key, const uint each, const uint size, const uint step, bool rising) {
#define ORDER(e) order_pair_of(key, size, step, rising, e)
  FOR_KEYS(ORDER, each);
#undef ORDER
}

// Keeps the smaller or the larger of key e of this item and of the partner.
ALL_INLINE void keep_one_of(Key* key, uint partner, bool smaller, const uint e) {
  const Key mine = key[e], other = of_partner(mine, partner);
  key[e] = (mine > other) == smaller ? other : mine;
}

ALL_INLINE void order_with_partner(Key* key, const uint each, uint partner, bool smaller) {
#define KEEP(e) keep_one_of(key, partner, smaller, e)
  FOR_KEYS(KEEP, each);
#undef KEEP
}

// Merges two halves of `size` keys in an item, of which one rises and one falls.
ALL_INLINE void merge_in_item(Key* key, const uint each, const uint size, bool rising) {
  if (size > 8) order_pairs(key, each, size, 8, rising);
  if (size > 4) order_pairs(key, each, size, 4, rising);
  if (size > 2) order_pairs(key, each, size, 2, rising);
  order_pairs(key, each, size, 1, rising);
}

// Sorts the 32 * each keys of a warp; key number lane * each + e ends in key[e] of item `lane`. Loops stay
// loops: where a kernel sorts once, each of its instructions is read from memory once, which takes longer
// than to execute it.
//   each  4, 8 or 16, which is known when this is compiled
ALL_INLINE void sort_warp(Key* key, const uint each, uint lane) {
  const bool even = lane % 2 == 0;
  merge_in_item(key, each, 2, true);
  merge_in_item(key, each, 4, each > 4 || even);
  if (each > 4) merge_in_item(key, each, 8, each > 8 || even);
  if (each > 8) merge_in_item(key, each, 16, even);
#pragma unroll 1
  for (uint lanes = 2; lanes <= 32; lanes *= 2) {
    const bool rising = (lane & lanes) == 0;
#pragma unroll 1
    for (uint partner = lanes / 2; partner > 0; partner /= 2)
      order_with_partner(key, each, partner, ((lane & partner) == 0) == rising);
    merge_in_item(key, each, each, rising);
  }
}

#define STORE_PITCH 34  // avoids bank conflicts

// Writes the first `wanted` of the 32 * each keys of a warp, as sort_warp() leaves them, so that neighbouring
// items write neighbouring keys. `slots` is local memory of the warp for each * STORE_PITCH keys.
ALL_INLINE void store_warp(const Key* key, const uint each, local Key* slots, uint lane, global Key* to,
                           uint wanted) {
#define STORE(e) slots[lane + (e)*STORE_PITCH] = key[e]
  FOR_KEYS(STORE, each);
#undef STORE
  JOIN_WARP();
  for (uint j = lane; j < min(wanted, 32 * each); j += 32) to[j] = slots[j % each * STORE_PITCH + j / each];
}
