// The LIST >= k smallest keys of a work-item, in registers, and its queue of keys in local memory, [, GROUP].
// No twin in kernels_cuda: groups.cu has the like beside its kernel.
#include "common/common.cl"

// Empties a list: LIST - k keys that are below all others, then the k of the result.
ALL_INLINE void start_list(Key list[LIST], uint k) {
#pragma unroll
  for (uint j = 0; j < LIST; ++j) list[j] = j < LIST - k ? 0 : NO_KEY;
}

// Inserts `key` into LIST ascending keys and drops the last, without a branch.
void insert(Key list[LIST], Key key) {
#pragma unroll
  for (uint j = LIST - 1; j > 0; --j) list[j] = min(list[j], max(list[j - 1], key));
  list[0] = min(list[0], key);
}

// Inserts the queue of this work-item; returns the value of the new bound.
float take_queue(local const Key* queue, uint size, Key list[LIST]) {
  for (uint e = 0; e < size; ++e) insert(list, queue[e * GROUP]);
  return value_of(list[LIST - 1]);
}

// Writes the k keys of the result.
ALL_INLINE void put_list(const Key list[LIST], uint k, global Key* to) {
#pragma unroll
  for (uint j = 0; j < LIST; ++j)
    if (j >= LIST - k) to[j - (LIST - k)] = list[j];
}
