// finish: turns keys into the distances and row numbers that the caller gets.
//
//   keys      [q, width]      each list ascending, row-major, stride in elements
//   distance  [q, k]          the key's value, after the function in the last column of metrics.def,
//                             -D METRIC=<id>
//   numbers   [q, k]          the key's row; -1 if there is none or the pair is masked
//   places    [rows of keys]  the place of the row of a key; null: the row itself
//   named     [places]        the number of a place; null: the place itself
//   own       the place that the list of query 0 leaves out; query q leaves out own + q; -1: nothing is
//             left out
//
// A work-group of 256 items handles as many queries as it has items for, at least one. It first finds the key
// to leave out of each list; then each item computes one answer after another. The root is correctly rounded
// on every device, however inaccurate its sqrt() is: see root().
// Work: each key is read twice. One barrier, two with `own`. Local memory: 1 KiB.
#include "common/common.cl"
#include "common/root.cl"

#define JOIN_NOW(a, b) a##b
#define JOIN(a, b) JOIN_NOW(a, b)

#undef sqrt  // it may be a macro
#define sqrt root
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  float finished_##id(float acc) {                          \
    return finish;                                          \
  }
#include "kith/metrics.def"
#undef KITH_METRIC
#undef sqrt

#define GROUP 256

// Returns the place of the row of a key.
ulong place_of(Key key, global const uint* places) {
  const uint row = (uint)key;
  return places ? places[row] : row;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_finish(
    global const Key* keys, Place keys_at, global float* distance, Place distance_at, global long* numbers,
    Place numbers_at, global const uint* places, Place places_at, global const long* named, Place named_at,
    long own, ulong queries, uint width, uint k, uint queries_a_group) {
  local uint leaves[GROUP];  // the place in the list of the key that is left out
  const uint lid = (uint)get_local_id(0);
  const ulong q0 = (ulong)get_group_id(0) * queries_a_group;
  const uint count = (uint)min((ulong)queries_a_group, queries - q0);
  keys += keys_at.first + q0 * keys_at.stride;
  if (places) places += places_at.first;
  if (named) named += named_at.first;
  if (lid < count) leaves[lid] = width;
  barrier(CLK_LOCAL_MEM_FENCE);
  if (own >= 0) {
    for (uint i = lid; i < count * width; i += GROUP) {
      const uint q = i / width, j = i - q * width;
      const Key key = keys[q * keys_at.stride + j];
      if ((uint)(key >> 32) != NO_VALUE && place_of(key, places) == (ulong)own + q0 + q) leaves[q] = j;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  for (uint i = lid; i < count * k; i += GROUP) {
    const uint q = i / k, j = i - q * k, at = j + (own >= 0 && leaves[q] <= j ? 1 : 0);
    const Key key = at < width ? keys[q * keys_at.stride + at] : NO_KEY;
    long number = -1;
    if ((uint)(key >> 32) != NO_VALUE) {
      number = (long)place_of(key, places);
      if (named) number = named[number];
    }
    distance[distance_at.first + (q0 + q) * distance_at.stride + j] = JOIN(finished_, METRIC)(value_of(key));
    numbers[numbers_at.first + (q0 + q) * numbers_at.stride + j] = number;
  }
}
