// Sorting in local memory by all work-items of a group, without branches on the data.
// Source: Batcher, Sorting networks and their applications, 1968 (bitonic sort; here in the form
// whose first step of each merge is mirrored, so that every comparison points the same way).
//
// Every function here is called by all GROUP work-items, and begins and ends with a barrier.
#include "common.cl"

void order_pair(local Key* a, local Key* b) {
  const Key x = *a, y = *b;
  *a = min(x, y);
  *b = max(x, y);
}

// Make each run of `size` keys of keys[0, total), every one bitonic, ascending. Powers of two.
void clean_runs(local Key* keys, uint total, uint size) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint step = size / 2; step > 0; step /= 2) {
    for (uint i = (uint)get_local_id(0); i < total / 2; i += GROUP) {
      const uint low = 2 * i - (i & (step - 1));
      order_pair(keys + low, keys + low + step);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
}

// Sort each run of `size` keys of keys[0, total). Powers of two.
void sort_runs(local Key* keys, uint total, uint size) {
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint width = 2; width <= size; width *= 2) {
    for (uint i = (uint)get_local_id(0); i < total / 2; i += GROUP) {
      const uint low = 2 * i - (i & (width / 2 - 1));
      order_pair(keys + low, keys + (low ^ (width - 1)));
    }
    clean_runs(keys, total, width / 2);
  }
}

// The smallest power of two that is not below `x`, for 1 <= x <= 2^31.
uint power_of_two(uint x) {
  return x <= 1 ? 1 : 1u << (32 - clz(x - 1));
}
