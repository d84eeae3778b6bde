// merge: merges the sorted lists of each row into one.
//
//   in   [q, lists * k]  keys, each list ascending, padded with NO_KEY
//   out  [q, k]          the k smallest of all, ascending
//
// There are three kernels, each in its own file, because a program is compiled as a whole: kith_merge for
// GPUs, if a short list fits into local memory; kith_merge_insertion for few keys and for CPU devices;
// kith_merge_runs, which merges two lists at a time, for any k.
#include "common/shortlist.cl"

// Work-group (q, g) reads the first key of every list, then the second of every list, and so on, KEYS per
// item and step, and keeps the k smallest (shortlist.cl). It ends after as many successive refusals as there
// are lists, because all later keys would be refused as well. Local memory: list_size + capacity keys, 2 *
// parts numbers; capacity >= merge_at + GROUP * KEYS.
// Work: about lists * (1 + k / lists + ...) reads, if the order is random.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_merge(
    global const Key* restrict in, Place in_at, uint results, uint lists, uint k, const Shortlist shortlist,
    global Key* restrict out, Place out_at, local Key* list, local Key* buffer, local uint* least) {
  const uint list_size = shortlist.list_size, capacity = shortlist.capacity, merge_at = shortlist.merge_at,
             parts = shortlist.parts;
  local uint count[1], accepted;  // number of candidates in the buffer; the last one that was accepted
  const uint lid = (uint)get_local_id(0);
  const ulong q = get_group_id(0) / results, g = get_group_id(0) % results;
  const ulong candidates = (ulong)lists * k;
  global const Key* row = in + in_at.first + q * in_at.stride + g * candidates;
  const ulong to = out_at.first + q * out_at.stride + g * k;
  shortlist_start(list, list_size, count, 1);
  local uint* sorted = least + parts;
  for (uint i = lid; i < 2 * parts; i += GROUP) least[i] = NO_VALUE;
  if (lid == 0) accepted = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  Key bound = NO_KEY;
  ulong refused = 0;
  bool merged = false;
  for (ulong c0 = 0; c0 < candidates && refused < lists; c0 += GROUP * KEYS) {
    Key mine[KEYS];
    Key small = NO_KEY;
#pragma unroll
    for (uint v = 0; v < KEYS; ++v) {
      const ulong c = c0 + v * GROUP + lid;
      // If one step takes all keys, their order does not matter, and they are read as they are stored.
      const ulong at = candidates <= GROUP * KEYS ? c : ((uint)c % lists) * (ulong)k + (uint)c / lists;
      mine[v] = c < candidates ? row[at] : NO_KEY;
      small = min(small, mine[v]);
    }
    if (c0 == 0 && k <= parts) {
      offer_least(least, parts, (uint)(small >> 32));
      barrier(CLK_LOCAL_MEM_FENCE);
      order_parts(least, sorted, 1, parts);
      barrier(CLK_LOCAL_MEM_FENCE);
      bound = bound_of_part(sorted[k - 1], parts);
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    uint wanted = 0, last_wanted = 0;
#pragma unroll
    for (uint v = 0; v < KEYS; ++v) {
      if (mine[v] >= bound) continue;
      ++wanted;
      last_wanted = v;
    }
    if (wanted) {
      uint place = atomic_add(count, wanted);
      atomic_max(&accepted, (uint)c0 + last_wanted * GROUP + lid + 1);
#pragma unroll
      for (uint v = 0; v < KEYS; ++v)
        if (mine[v] < bound) buffer[place++] = mine[v];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint now = count[0];
    refused = c0 + GROUP * KEYS - accepted;
    barrier(CLK_LOCAL_MEM_FENCE);
    // A list that was merged is the result; short ones are never merged. There is only one call of the merge
    // in the source: it is long, and PoCL duplicates the code behind a barrier in a branch.
    const bool last = c0 + GROUP * KEYS >= candidates || refused >= lists;
    if (now >= merge_at || (last && (merged || now > MOST_RANKED(1)))) {
      shortlist_merge(list, list_size, buffer, capacity, count, 1);
      bound = list[k - 1];
      merged = true;
    }
  }

  const uint found = merged ? 0 : count[0];
  for (uint place = lid; place < max(found, k); place += GROUP) {
    const uint j = place < found ? rank_among(buffer, found, place) : place;
    if (j < k) out[to + j] = merged ? list[j] : place < found ? buffer[place] : NO_KEY;
  }
}
