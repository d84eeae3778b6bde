// What select, threshold, does with or without a guessed bound: a work-group selects the k smallest of a
// list's columns.
// No twin in kernels_cuda: select_threshold.cu has it, as scan().
#include "common/shortlist.cl"

// Merges the buffer if it is full enough, or if nothing follows, and returns the new bound. All work-items
// call this; it begins with a barrier.
Key bound_after_step(LISTS Key* list, const Shortlist shortlist, local uint* count, uint k, bool last,
                     Key bound) {
  barrier(LISTS_FENCE);
  const bool full = count[0] >= shortlist.merge_at || last;
  barrier(LISTS_FENCE);
  if (!full) return bound;
  shortlist_merge(list, shortlist.list_size, list + shortlist.list_size, shortlist.capacity, count, 1);
  return list[k - 1];
}

// Reads the values of this item in a step, VALUES of them, and returns whether one is at most `limit`.
// Oclgrind 21.10 does not know what clang makes of `restrict` here.
ALL_INLINE bool read_step(float* mine, global const float* row, ulong t0, ulong end, float limit) {
  bool near = false;
#pragma unroll
  for (uint i = 0; i < VALUES; ++i) {
    const ulong t = t0 + i * GROUP + (uint)get_local_id(0);
    mine[i] = t < end ? row[t] : NAN;
  }
#pragma unroll
  for (uint i = 0; i < VALUES; ++i) near |= mine[i] <= limit;
  return near;
}

// Selects the k smallest of columns begin ... end - 1 of a row of distances.
//   list   [list_size + capacity]  the result, and behind it memory for a buffer
//   count  [1]
void select_columns(global const float* restrict row, uint begin, uint end, uint first_row, uint k,
                    const Shortlist shortlist, LISTS Key* list, local uint* count) {
  const uint lid = (uint)get_local_id(0);
  LISTS Key* buffer = list + shortlist.list_size;
  shortlist_start(list, shortlist.list_size, count, 1);
  barrier(LISTS_FENCE);
  Key bound = NO_KEY;
  float value = INFINITY;  // value of the bound
  for (ulong t0 = begin; t0 < end; t0 += GROUP * VALUES) {
    float mine[VALUES];
    if (read_step(mine, row, t0, end, value)) {
      for (uint i = 0; i < VALUES; ++i) {
        if (!(mine[i] <= value)) continue;
        const Key key = make_key(mine[i], first_row + (uint)t0 + i * GROUP + lid);
        if (key < bound) buffer[atomic_inc(count)] = key;
      }
    }
    bound = bound_after_step(list, shortlist, count, k, t0 + GROUP * VALUES >= end, bound);
    value = value_of(bound);
  }
}

// Writes the first k keys of a list.
void put_list(LISTS const Key* list, uint k, global Key* restrict out) {
  for (uint j = (uint)get_local_id(0); j < k; j += GROUP) out[j] = list[j];
}
