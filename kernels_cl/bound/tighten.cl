// tighten: merges reranked candidates into the k best so far.
//
//   keys    [q, capacity]  in any order, stride in elements; `counts` says how many each row has
//   counts  [q]            may exceed the capacity, stride in elements
//   best    [q, k]         in and out: ascending, padded with NO_KEY, stride in elements; with -D AFRESH only
//                          out, made from candidates alone
//
// Work-group q of GROUP items handles query q.
#include "bound/settle.cl"
#include "common/shortlist.cl"
#include "merge/merge_path.cl"
#ifdef WARPS
#include "common/sort_list.cl"
#endif

#define STEP (GROUP * VALUES)  // keys that are read at a time

// For k whose list fits into local memory (shortlist.cl): list_size + capacity keys, places >= merge_at +
// STEP, and 2 * parts numbers. With -D AFRESH the list begins with the first candidates, sorted; or, with -D
// SEEDED, for small k, the first of many candidates give a first bound, and the few keys that pass are
// ordered by counting. With -D WARPS, for lists of more than 256 keys, by PTX, warps sort the first
// candidates. Count and threshold of the query are updated as well (settle.cl).
// Work: k and counts reads; for each key below the k-th about log^2 of merge_at compare-exchanges, or as many
// comparisons as there are such keys.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_tighten(
    global const Key* restrict keys, Place keys_at, uint capacity, global uint* restrict counts,
    Place counts_at, uint k, global Key* restrict best, Place best_at, const Shortlist shortlist,
    local Key* list, local Key* buffer, local uint* least, SETTLEMENT) {
  const uint list_size = shortlist.list_size, places = shortlist.capacity, merge_at = shortlist.merge_at,
             parts = shortlist.parts;
  local uint kept[1];
  local Key last;  // the last of the k best
  const uint lid = (uint)get_local_id(0);
  const ulong q = get_group_id(0);
  global uint* count = counts + counts_at.first + q * counts_at.stride;
  const uint many = min(capacity, *count);
  best += best_at.first + q * best_at.stride;
  keys += keys_at.first + q * keys_at.stride;
  if (lid == 0) kept[0] = 0;
  uint begin = 0;
  bool in_list = true;  // found keys are in the list; otherwise they are in the buffer
#ifdef SEEDED
  in_list = false;
  for (uint i = lid; i < list_size; i += GROUP) list[i] = NO_KEY;
  for (uint i = lid; i < 2 * parts; i += GROUP) least[i] = NO_VALUE;
  barrier(CLK_LOCAL_MEM_FENCE);
#elif defined(AFRESH)
  begin = min(many, list_size);
  for (uint i = lid; i < list_size; i += GROUP) list[i] = i < begin ? keys[i] : NO_KEY;
  const uint width = power_of_two(begin);  // padding is behind it
#ifdef WARPS
  sort_list(list, max((uint)KEYS_OF_WARP, width));
#else
  sort_runs(list, width, width);
#endif
#else
  for (uint i = lid; i < list_size; i += GROUP) list[i] = i < k ? best[i] : NO_KEY;
  barrier(CLK_LOCAL_MEM_FENCE);
#endif

  Key bound = list[k - 1];
  for (uint j0 = begin; j0 < many; j0 += STEP) {
    Key mine[VALUES];
    Key small = NO_KEY;
#pragma unroll
    for (uint i = 0; i < VALUES; ++i) {
      const uint j = j0 + i * GROUP + lid;
      mine[i] = j < many ? keys[j] : NO_KEY;
      small = min(small, mine[i]);
    }
#ifdef SEEDED
    if (j0 == 0 && many > GROUP) {
      offer_least(least, parts, (uint)(small >> 32));
      barrier(CLK_LOCAL_MEM_FENCE);
      order_parts(least, least + parts, 1, parts);
      barrier(CLK_LOCAL_MEM_FENCE);
      bound = bound_of_part(least[parts + k - 1], parts);
    }
#endif
#pragma unroll
    for (uint i = 0; i < VALUES; ++i)
      if (mine[i] < bound) buffer[atomic_inc(kept)] = mine[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint now = kept[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint enough = many - j0 > STEP ? merge_at : in_list ? 1 : MOST_RANKED(1) + 1;
    if (now >= enough) {
      shortlist_merge(list, list_size, buffer, places, kept, 1);
      bound = list[k - 1];
      in_list = true;
    }
  }
  const uint found = in_list ? 0 : kept[0];
  for (uint place = lid; place < max(found, k); place += GROUP) {
    const uint j = place < found ? rank_among(buffer, found, place) : place;
    if (j >= k) continue;
    const Key key = in_list ? list[j] : place < found ? buffer[place] : NO_KEY;
    best[j] = key;
    if (j == k - 1) last = key;
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);  // all have read the count, which becomes 0
  if (lid == 0) settle(q, value_of(last), count, capacity, SETTLEMENT_HERE);
}

// Writes the first `end` keys of the merge of a and b, PIECE keys per item at a time. All work-items
// call this.
void merge_lists(global const Key* a, uint a_size, global const Key* b, uint b_size, global Key* to,
                 uint end) {
  for (ulong piece = (ulong)get_local_id(0) * PIECE; piece < end; piece += GROUP * PIECE) {
    uint i = from_first(a, a_size, b, b_size, (uint)piece), j = (uint)piece - i;
    const uint stop = (uint)min((ulong)end, piece + PIECE);
    for (uint o = (uint)piece; o < stop; ++o)
      to[o] = j >= b_size || (i < a_size && a[i] <= b[j]) ? a[i++] : b[j++];
  }
}

// For any k: sorts runs of CHUNK candidates in local memory, merges them in pairs in global memory, and
// merges the result with the best. scratch [q, 2 max(capacity, k)].
// Work: log(counts / CHUNK) + 1 passes over the candidates, and two over the best.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_tighten_runs(
    global const Key* restrict keys, Place keys_at, uint capacity, global const uint* restrict counts,
    Place counts_at, uint k, global Key* restrict best, Place best_at, global Key* scratch) {
  local Key chunk[CHUNK];
  const uint lid = (uint)get_local_id(0);
  const ulong q = get_group_id(0);
  const uint many = min(capacity, counts[counts_at.first + q * counts_at.stride]);
  best += best_at.first + q * best_at.stride;
#ifdef AFRESH
  for (uint i = lid; i < k; i += GROUP) best[i] = NO_KEY;
  barrier(CLK_GLOBAL_MEM_FENCE);
#endif
  if (many == 0) return;
  keys += keys_at.first + q * keys_at.stride;
  const ulong room = max(capacity, k);
  global Key* from = scratch + 2 * q * room;
  global Key* to = from + room;

  for (uint begin = 0; begin < many; begin += CHUNK) {
    const uint size = min((uint)CHUNK, many - begin), width = power_of_two(size);
    for (uint i = lid; i < width; i += GROUP) chunk[i] = i < size ? keys[begin + i] : NO_KEY;
    sort_runs(chunk, width, width);
    for (uint i = lid; i < size; i += GROUP) from[begin + i] = chunk[i];
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  for (ulong run = CHUNK; run < many; run *= 2) {
    for (ulong begin = 0; begin < many; begin += 2 * run) {
      const uint size = (uint)min(2 * run, many - begin), first = (uint)min(run, (ulong)size);
      merge_lists(from + begin, first, from + begin + first, size - first, to + begin, size);
    }
    barrier(CLK_GLOBAL_MEM_FENCE);
    global Key* other = from;
    from = to;
    to = other;
  }
  merge_lists(from, many, best, k, to, k);
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (uint i = lid; i < k; i += GROUP) best[i] = to[i];
}
