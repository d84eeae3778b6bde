// The k smallest keys that a work-group has seen, for one query or several at once.
//
//   lists    [queries, list_size]  ascending; list_size a power of two >= k
//   buffers  [queries, capacity]   candidates since the last merge, in no order; capacity likewise
//   counts   [queries]             how many of those; above capacity: so many found no place
//
// A candidate costs one comparison with the bound (the k-th key of its list); the few that pass are
// put into the buffer, which is sorted and merged into the list when it is full enough.
// Source: the buffered selection of Sismanis, Pitsianis, Sun 2012 (TBiS) and of bits-kNN (2024).
#include "sort.cl"

// Called by all work-items; a barrier must follow before anyone offers.
void shortlist_start(LISTS Key* lists, uint list_size, local uint* counts, uint queries) {
  for (uint i = (uint)get_local_id(0); i < queries * list_size; i += GROUP) lists[i] = NO_KEY;
  for (uint q = (uint)get_local_id(0); q < queries; q += GROUP) counts[q] = 0;
}

// Merge the buffers into the lists and empty them. Called by all work-items; has barriers at both
// ends. With one query, the sort is only as wide as its buffer is full.
void shortlist_merge(LISTS Key* lists, uint list_size, LISTS Key* buffers, uint capacity, local uint* counts,
                     uint queries) {
  const uint lid = (uint)get_local_id(0);
  barrier(LISTS_FENCE);
  const uint width = queries == 1 ? power_of_two(min(counts[0], capacity)) : capacity;
  for (uint i = lid; i < queries * width; i += GROUP)
    if (i % width >= counts[i / width]) buffers[i] = NO_KEY;
  sort_runs(buffers, queries * width, width);

  // Of list[j] and its mirror in the buffer the smaller: together the list_size smallest, bitonic.
  const uint both = min(width, list_size);
  for (uint i = lid; i < queries * both; i += GROUP) {
    const uint q = i / both, j = i % both;
    LISTS Key* kept = lists + q * list_size + (list_size - 1 - j);
    *kept = min(*kept, buffers[q * width + j]);
  }
  for (uint q = lid; q < queries; q += GROUP) counts[q] = 0;
  clean_runs(lists, queries * list_size, list_size);
}
