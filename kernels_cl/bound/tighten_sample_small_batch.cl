// tighten by a sample, for few queries and a small k: computes the threshold from the k-th smallest bound of
// rows that are no candidates. The twin of kernels_cuda/bound/tighten_sample_small_batch.cu.
//
//   sample     [q, groups]  codes, in any order, stride in elements
//   row_terms  [4, q]       with -D HALVES: of the quantized queries, stride in elements
//   threshold  [q]          in and out: it never grows; with groups < k it does not change
//
// Work-group q of GROUP items handles query q, and keeps its k smallest codes (shortlist.cl). The first STEP
// codes are read at once, and give a first bound, which refuses all but slightly more than k; these are
// ordered by counting.
// Work: each code is read once. Local memory: list_size + capacity keys, capacity >= merge_at + STEP, and 2 *
// parts numbers, parts >= k.
#include "bound/threshold.cl"
#include "common/shortlist.cl"

#define STEP (GROUP * VALUES)

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_tighten_sample_small_batch(
    global const uint* restrict sample, Place sample_at, uint groups, uint k, uint dims,
    global const float* restrict row_terms, Place row_terms_at, global float* restrict threshold,
    Place threshold_at, const Shortlist shortlist, local Key* list, local Key* buffer, local uint* least) {
  const uint list_size = shortlist.list_size, capacity = shortlist.capacity, merge_at = shortlist.merge_at,
             parts = shortlist.parts;
  local uint kept[1];
  local Key last;
  const uint lid = (uint)get_local_id(0);
  const ulong q = get_group_id(0);
  if (groups < k) return;
  sample += sample_at.first + q * sample_at.stride;
  shortlist_start(list, list_size, kept, 1);
  for (uint i = lid; i < 2 * parts; i += GROUP) least[i] = NO_VALUE;
  barrier(CLK_LOCAL_MEM_FENCE);
  Key bound = NO_KEY;
  bool merged = false;
  for (ulong i0 = 0; i0 < groups; i0 += STEP) {
    Key mine[VALUES];
    Key small = NO_KEY;
#pragma unroll
    for (uint v = 0; v < VALUES; ++v) {
      const ulong i = i0 + v * GROUP + lid;
      mine[v] = i < groups ? (Key)sample[i] << 32 | i : NO_KEY;
      small = min(small, mine[v]);
    }
    if (i0 == 0) {
      offer_least(least, parts, (uint)(small >> 32));
      barrier(CLK_LOCAL_MEM_FENCE);
      order_parts(least, least + parts, 1, parts);
      barrier(CLK_LOCAL_MEM_FENCE);
      bound = bound_of_part(least[parts + k - 1], parts);
    }
#pragma unroll
    for (uint v = 0; v < VALUES; ++v)
      if (mine[v] < bound) buffer[atomic_inc(kept)] = mine[v];
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint now = kept[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    const bool ends = groups - i0 <= STEP;
    if (now >= merge_at || (ends && (merged || now > MOST_RANKED(1)))) {
      shortlist_merge(list, list_size, buffer, capacity, kept, 1);
      bound = list[k - 1];
      merged = true;
    }
  }
  const uint found = merged ? 0 : kept[0];
  for (uint place = lid; place < found; place += GROUP)
    if (rank_among(buffer, found, place) == k - 1) last = buffer[place];
  if (merged && lid == 0) last = list[k - 1];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (lid != 0) return;
  threshold += threshold_at.first + q * threshold_at.stride;
  *threshold = threshold_by_bound(*threshold, value_of((Key)(uint)(last >> 32) << 32), dims,
                                  row_terms + row_terms_at.first + q, row_terms_at.stride);
}
