// tighten, for CPU devices: merges reranked candidates into the k best so far. tighten_threshold.cl does
// the rest.
//
//   keys    [q, capacity]  in any order, stride in elements; `counts` says how many each row has
//   counts  [q]            may exceed the capacity, stride in elements
//   best    [q, k]         in and out: ascending, padded with NO_KEY, stride in elements; with -D AFRESH only
//                          out, made from candidates alone
//
// Work-item q inserts the keys that are below the last of the best. A long list in reverse order is a heap
// with the largest key on top (list.cl); this is used if many keys pass. No barrier, no local memory.
// Work: counts reads; for each key that is below the last, k moves, or log2 k moves and k log2 k at the end.
// No twin in kernels_cuda: CUDA has no CPU devices.
#include "common/list.cl"

#define FEW 16  // up to this many keys are inserted one by one

void turn_around(global Key* list, uint k) {
  for (uint i = 0; i < k / 2; ++i) {
    const Key key = list[i];
    list[i] = list[k - 1 - i];
    list[k - 1 - i] = key;
  }
}

kernel void kith_tighten_lanes(global const Key* restrict keys, Place keys_at, uint capacity,
                               global const uint* restrict counts, Place counts_at, uint k,
                               global Key* restrict best, Place best_at) {
  const ulong q = get_global_id(0);
  const uint many = min(capacity, counts[counts_at.first + q * counts_at.stride]);
  keys += keys_at.first + q * keys_at.stride;
  best += best_at.first + q * best_at.stride;
#ifdef AFRESH
  for (uint j = 0; j < k; ++j) best[j] = NO_KEY;
#endif
  uint before = 0;  // number of keys that are below the last of the best
  for (uint j = 0; j < many; ++j) before += keys[j] < best[k - 1];
  if (before == 0) return;

  const bool heap = k > SORTED_UP_TO && before > FEW;
  if (heap) turn_around(best, k);
  for (uint j = 0; j < many; ++j) {
    if (heap) {
      if (keys[j] < best[0]) sift_down(best, k, 0, keys[j]);
    } else {
      if (keys[j] < best[k - 1]) insert_sorted(best, k, keys[j]);
    }
  }
  if (heap) list_finish(best, k);
}
