// Sorts a long list in local memory by a work-group whose warps hold 256 keys each: in registers they do the
// steps among these by shuffles, so that local memory is read and written less often than there are steps.
// Only for NVIDIA's compiler, as warp.cl. No branch depends on the data. Source: Batcher, Sorting networks
// and their applications, 1968 (bitonic sort).
// No twin in kernels_cuda: sort_front.cuh sorts the front of a list in this way.
#include "common/common.cl"
#include "common/warp.cl"

#define KEYS_OF_ITEM 8
#define KEYS_OF_WARP (32 * KEYS_OF_ITEM)

// Returns whether the merges of `size` keys let keys fall at this place of a list.
bool falls(uint place, uint size, uint length) {
  return (place & size & (length - 1)) != 0;
}

// Does the steps below KEYS_OF_WARP of the merges of least, 2 least, ... most keys. Item l of a warp holds
// keys l, l + 32, ... of those of the warp.
ALL_INLINE void merge_in_warps(local Key* keys, uint length, uint least, uint most) {
  const uint lid = (uint)get_local_id(0), lane = lid % 32;
  for (uint first = lid / 32 * KEYS_OF_WARP + lane; first < length; first += GROUP * KEYS_OF_ITEM) {
    Key key[KEYS_OF_ITEM];
#pragma unroll
    for (uint e = 0; e < KEYS_OF_ITEM; ++e) key[e] = keys[first + e * 32];
#pragma unroll 1
    for (uint size = least; size <= most; size *= 2) {
#pragma unroll
      for (uint apart = KEYS_OF_ITEM / 2; apart > 0; apart /= 2) {
        if (32 * apart >= size) continue;
#pragma unroll
        for (uint e = 0; e < KEYS_OF_ITEM; ++e) {
          if ((e & apart) != 0) continue;
          const Key a = key[e], b = key[e | apart];
          const bool swap = (a > b) != falls(first + e * 32, size, length);
          key[e] = swap ? b : a;
          key[e | apart] = swap ? a : b;
        }
      }
#pragma unroll 1
      for (uint step = min(16u, size / 2); step > 0; step /= 2) {
        const bool lower = (lane & step) == 0;
#pragma unroll
        for (uint e = 0; e < KEYS_OF_ITEM; ++e) {
          const Key mine = key[e], other = of_partner(mine, step);
          key[e] = (mine > other) == (lower != falls(first + e * 32, size, length)) ? other : mine;
        }
      }
    }
#pragma unroll
    for (uint e = 0; e < KEYS_OF_ITEM; ++e) keys[first + e * 32] = key[e];
  }
}

// Sorts keys[0, length), a power of two of at least KEYS_OF_WARP. Begins and ends with a barrier.
void sort_list(local Key* keys, uint length) {
  barrier(CLK_LOCAL_MEM_FENCE);
  merge_in_warps(keys, length, 2, KEYS_OF_WARP);
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint size = 2 * KEYS_OF_WARP; size <= length; size *= 2) {
    for (uint step = size / 2; step >= KEYS_OF_WARP; step /= 2) {
      for (uint i = (uint)get_local_id(0); i < length / 2; i += GROUP) {
        const uint low = 2 * i - (i & (step - 1));
        const Key a = keys[low], b = keys[low + step];
        const bool swap = (a > b) != falls(low, size, length);
        keys[low] = swap ? b : a;
        keys[low + step] = swap ? a : b;
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    merge_in_warps(keys, length, size, size);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}
