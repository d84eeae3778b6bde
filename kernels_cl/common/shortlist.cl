// The k smallest keys that a work-group has seen, for one query or several at once.
//
//   lists    [queries, list_size]  ascending; list_size a power of two >= k
//   buffers  [queries, capacity]   candidates since the last merge, in no order; capacity likewise
//   counts   [queries]             how many of those; above capacity: so many found no place
//
// A candidate costs one comparison with the bound (the k-th key of its list); the few that pass are
// put into the buffer, which is sorted and merged into the list when it is full enough.
// Source: the buffered selection of Sismanis, Pitsianis, Sun 2012 (TBiS) and of bits-kNN (2024).
#include "common/sort.cl"

// ShortlistSizes in check.hpp of the back end.
typedef struct {
  uint list_size, capacity;
  uint merge_at;  // candidates that make a merge worth while
  uint parts;     // of a first bound, below
} Shortlist;

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

// A first bound, of candidates that all work-items hold: of each of `parts` parts of them the least, and of
// those the k-th, k <= parts. `parts` is a power of two, so much more than k that the bound refuses much.

// Offer the least value that an item has, as ordered() makes it, or NO_VALUE. Numbered, so that no two parts
// are equal. By all work-items: what some do alone before a barrier, PoCL 3.1 compiles wrongly.
void offer_least(local uint* least, uint parts, uint code) {
  const uint part = (uint)get_local_id(0) % parts;
  atomic_min(least + part, (code & ~(parts - 1)) | part);
}

// Put the least of the parts of each query in order, where each counts those before it. All work-items; a
// barrier comes before and after. Places of parts without a value keep what they have, NO_VALUE.
void order_parts(local const uint* least, local uint* sorted, uint queries, uint parts) {
  for (uint at = (uint)get_local_id(0); at < queries * parts; at += GROUP) {
    const uint first = at & ~(parts - 1), mine = least[at];
    uint rank = 0;
#pragma unroll 8
    for (uint other = first; other < first + parts; ++other) rank += least[other] < mine;
    sorted[first + rank] = mine;
  }
}

// The bound for a part in its place: the largest code that it may stand for, which above +infinity is none.
Key bound_of_part(uint code, uint parts) {
  const uint largest = code | (parts - 1);
  return (Key)(largest > 0xFF800000u ? NO_VALUE : largest) << 32 | NO_ROW;
}

// Up to so many keys are sooner counted than sorted: each counts those before it, without a
// barrier. The work grows with the square, the time does not while there are items to share it.
#define MOST_RANKED(lists) ((lists) == 1 ? 256 : 128)

// How many of keys[0, count) come before `mine`, which is number `place` of them; equal ones as they stand.
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
