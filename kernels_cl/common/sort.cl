// Sorts keys in local memory by all work-items of a group. No branch depends on the data. Source: Batcher,
// Sorting networks and their applications, 1968 (bitonic sort, in the form that mirrors the first step of
// each merge, so that all comparisons have the same direction).
//
// All GROUP work-items call each function, which begins and ends with a barrier. With -D LISTS_IN_SCRATCH
// keys are in global memory instead, for lists that are too long.
#include "common/common.cl"

#ifdef LISTS_IN_SCRATCH
#define LISTS global
#define LISTS_FENCE (CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)
#else
#define LISTS local
#define LISTS_FENCE CLK_LOCAL_MEM_FENCE
#endif

void order_pair(LISTS Key* a, LISTS Key* b) {
  const Key x = *a, y = *b;
  *a = min(x, y);
  *b = max(x, y);
}

// Sorts each run of `size` keys of keys[0, total), which must be bitonic. Both sizes are powers of two.
void clean_runs(LISTS Key* keys, uint total, uint size) {
  barrier(LISTS_FENCE);
  for (uint step = size / 2; step > 0; step /= 2) {
    for (uint i = (uint)get_local_id(0); i < total / 2; i += GROUP) {
      const uint low = 2 * i - (i & (step - 1));
      order_pair(keys + low, keys + low + step);
    }
    barrier(LISTS_FENCE);
  }
}

// Sorts each run of `size` keys of keys[0, total). Both sizes are powers of two.
void sort_runs(LISTS Key* keys, uint total, uint size) {
  barrier(LISTS_FENCE);
  for (uint width = 2; width <= size; width *= 2) {
    for (uint i = (uint)get_local_id(0); i < total / 2; i += GROUP) {
      const uint low = 2 * i - (i & (width / 2 - 1));
      order_pair(keys + low, keys + (low ^ (width - 1)));
    }
    clean_runs(keys, total, width / 2);
  }
}

// Returns the smallest power of two that is not below `x`, for 1 <= x <= 2^31.
uint power_of_two(uint x) {
  return x <= 1 ? 1 : 1u << (32 - clz(x - 1));
}
