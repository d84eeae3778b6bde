// The k smallest keys that a work-group has seen, for one or several queries at once.
//
//   lists    [queries, list_size]  ascending; list_size a power of two >= k
//   buffers  [queries, capacity]   candidates since the last merge, in any order; capacity is a power of two
//   counts   [queries]             number of candidates in the buffer, or that were offered to a full one
//
// A candidate costs one comparison with the bound, which is the k-th key of its list. The few that pass are
// put into the buffer, which is sorted and merged into the list when it is full enough. Source: the buffered
// selection of Sismanis, Pitsianis, Sun 2012 (TBiS) and of bits-kNN (2024).
#include "common/sort.cl"

// This is ShortlistSizes in check.hpp of the back end.
typedef struct {
  uint list_size, capacity;
  uint merge_at;  // number of candidates that makes a merge worthwhile
  uint parts;     // number of parts for the first bound, see below
} Shortlist;

// Makes the lists empty. All work-items call this; a barrier must follow before the first offer.
void shortlist_start(LISTS Key* lists, uint list_size, local uint* counts, uint queries) {
  for (uint i = (uint)get_local_id(0); i < queries * list_size; i += GROUP) lists[i] = NO_KEY;
  for (uint q = (uint)get_local_id(0); q < queries; q += GROUP) counts[q] = 0;
}

// Merges the buffers into the lists and empties them. All work-items call this; it begins and ends with a
// barrier. With one query, the sort is only as wide as its buffer is full.
void shortlist_merge(LISTS Key* lists, uint list_size, LISTS Key* buffers, uint capacity, local uint* counts,
                     uint queries) {
  const uint lid = (uint)get_local_id(0);
  barrier(LISTS_FENCE);
  const uint width = queries == 1 ? power_of_two(min(counts[0], capacity)) : capacity;
  for (uint i = lid; i < queries * width; i += GROUP)
    if (i % width >= counts[i / width]) buffers[i] = NO_KEY;
  sort_runs(buffers, queries * width, width);

  // The smaller of each pair of list[j] and its mirror in the buffer: together they are the list_size
  // smallest, as a bitonic sequence.
  const uint both = min(width, list_size);
  for (uint i = lid; i < queries * both; i += GROUP) {
    const uint q = i / both, j = i % both;
    LISTS Key* kept = lists + q * list_size + (list_size - 1 - j);
    *kept = min(*kept, buffers[q * width + j]);
  }
  for (uint q = lid; q < queries; q += GROUP) counts[q] = 0;
  clean_runs(lists, queries * list_size, list_size);
}

// A first bound, from candidates that the work-items hold. These are divided into `parts` parts; the bound is
// the k-th of the minima of the parts, k <= parts. `parts` is a power of two, so much larger than k that the
// bound refuses much.

// Offers the least value of this item, as ordered() makes it, or NO_VALUE. Its low bits become the number of
// the part, so that no two parts are equal. All work-items call this, because PoCL 3.1 miscompiles what only
// some do before a barrier.
void offer_least(local uint* least, uint parts, uint code) {
  const uint part = (uint)get_local_id(0) % parts;
  atomic_min(least + part, (code & ~(parts - 1)) | part);
}

// Sorts the minima of each query's parts: each counts those before it. All work-items call this, between two
// barriers. Parts without a value keep NO_VALUE, and so do their places.
void order_parts(local const uint* least, local uint* sorted, uint queries, uint parts) {
  for (uint at = (uint)get_local_id(0); at < queries * parts; at += GROUP) {
    const uint first = at & ~(parts - 1), mine = least[at];
    uint rank = 0;
#pragma unroll 8
    for (uint other = first; other < first + parts; ++other) rank += least[other] < mine;
    sorted[first + rank] = mine;
  }
}

// Returns the bound for the code of a part: the largest code that it may represent; above that of +infinity
// there is no bound.
Key bound_of_part(uint code, uint parts) {
  const uint largest = code | (parts - 1);
  return (Key)(largest > 0xFF800000u ? NO_VALUE : largest) << 32 | NO_ROW;
}

// Up to this many keys, counting is faster than sorting. Each key counts the keys before it, without a
// barrier. The work grows with the square of the number, but the time does not, as long as there are items to
// share it.
#define MOST_RANKED(lists) ((lists) == 1 ? 256 : 128)

// Returns how many of keys[0, count) come before keys[place]; equal keys are ordered by place.
uint rank_among(LISTS const Key* keys, uint count, uint place) {
  const Key mine = keys[place];
  uint rank = 0;
  for (uint begin = 0; begin < count; begin += 32) {
    const uint end = min(begin + 32, count);
    if (begin == place / 32 * 32) {
      for (uint other = begin; other < end; ++other) rank += keys[other] < mine + (other < place);
    } else {
      const Key limit = mine + (begin < place);
#pragma unroll 8
      for (uint other = begin; other < end; ++other) rank += keys[other] < limit;
    }
  }
  return rank;
}
