// vote: each neighbour has one vote; the class with most votes wins, and the smallest of equal ones.
//
//   nearest [q, k]         keys; NO_KEY does not vote
//   labels  [1, n]         the class of each training row
//   counts  [q, classes]   votes            winner [q, 1]   NO_ROW without a vote
//
// There are four kernels, with the same results: kith_vote, for all devices; kith_vote_atomic; and
// branch-free votes for GPUs and for CPU devices.
#include "common/common.cl"

// Returns the class that a neighbour votes for; NO_ROW, which is no class, if it does not vote.
uint label_of(Key nearest, global const uint* labels) {
  return nearest == NO_KEY ? NO_ROW : labels[(uint)nearest];
}

// Work-item q counts the votes of query q. No barrier, no local memory. Work per query: k + 2 classes steps.
kernel void kith_vote(global const Key* restrict nearest, Place nearest_at, uint rows, uint k,
                      global const uint* restrict labels, ulong labels_first, uint classes,
                      global uint* restrict counts, Place counts_at, global uint* restrict winner,
                      Place winner_at) {
  const uint q = (uint)get_global_id(0);
  if (q >= rows) return;
  nearest += nearest_at.first + q * nearest_at.stride;
  counts += counts_at.first + q * counts_at.stride;
  for (uint c = 0; c < classes; ++c) counts[c] = 0;
  for (uint j = 0; j < k; ++j)
    if (nearest[j] != NO_KEY) ++counts[labels[labels_first + (uint)nearest[j]]];

  uint best = NO_ROW, most = 0;
  for (uint c = 0; c < classes; ++c)
    if (counts[c] > most) {
      most = counts[c];
      best = c;
    }
  winner[winner_at.first + q * winner_at.stride] = best;
}

// Returns a class and its votes as one number, which is larger for more votes, then for a smaller class; 0
// without votes.
ulong candidate(uint count, uint c) {
  return count == 0 ? 0 : (ulong)count << 32 | (NO_ROW - c);
}

// Finds the largest of the GROUP candidates of a work-group, which is the winner. All items call this.
void elect(ulong mine, local ulong* candidates, global uint* winner) {
  const uint lid = (uint)get_local_id(0);
  candidates[lid] = mine;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint side = GROUP / 2; side > 0; side /= 2) {
    if (lid < side) candidates[lid] = max(candidates[lid], candidates[lid + side]);
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  if (lid == 0) *winner = candidates[0] == 0 ? NO_ROW : NO_ROW - (uint)candidates[0];
}

// Work-group q counts the votes of query q, one neighbour per item, with an atomic addition for each vote.
// The counters are in local memory; with -D IN_GLOBAL, if they are too many, in `counts`.
// Work per query: k atomic additions, those for the same class one after another; 2 classes steps; 3 +
// log2(GROUP) barriers. Local memory: `classes` counters and GROUP candidates. Source: the vote of GS_KNN
// (Liu, Zheng, Liu 2019) and of knn01 (Batlle, Ballber 2020).
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_vote_atomic(
    global const Key* restrict nearest, Place nearest_at, uint k, global const uint* restrict labels,
    ulong labels_first, uint classes, global uint* counts, Place counts_at, global uint* restrict winner,
    Place winner_at, local uint* local_counters) {
  local ulong candidates[GROUP];
  const uint lid = (uint)get_local_id(0);
  const ulong q = get_group_id(0);
  nearest += nearest_at.first + q * nearest_at.stride;
  counts += counts_at.first + q * counts_at.stride;
#ifdef IN_GLOBAL
  global uint* counters = counts;
#else
  local uint* counters = local_counters;
#endif
  for (uint c = lid; c < classes; c += GROUP) counters[c] = 0;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (uint j = lid; j < k; j += GROUP) {
    const uint label = label_of(nearest[j], labels + labels_first);
    if (label != NO_ROW) atomic_inc(counters + label);
  }
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  ulong best = 0;
  for (uint c = lid; c < classes; c += GROUP) {
    best = max(best, candidate(counters[c], c));
    counts[c] = counters[c];
  }
  elect(best, candidates, winner + winner_at.first + q * winner_at.stride);
}

#define STAGED 256  // number of neighbours whose labels are staged at a time

// Work-group q counts the votes of query q without a look-up: for every class it compares each neighbour's
// label with the class, and adds the results. Labels pass through local memory, STAGED at a time. An item
// handles one of `side` classes, a power of two up to GROUP, and each GROUP / side-th neighbour, so that few
// classes keep all items busy; if there are more than `side` classes, these are handled in turn.
// Work per query: k classes comparisons and additions, which do not depend on the data; for each `side`
// classes 2 + 2 ceil(k / STAGED) barriers. Local memory: STAGED labels, GROUP counts, GROUP candidates.
// Source: the vote of knn03 (Batlle, Ballber 2020), there for two classes.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_vote_branch_free(
    global const Key* restrict nearest, Place nearest_at, uint k, global const uint* restrict labels,
    ulong labels_first, uint classes, global uint* restrict counts, Place counts_at,
    global uint* restrict winner, Place winner_at, uint side) {
  local uint staged[STAGED], parts[GROUP];
  local ulong candidates[GROUP];
  const uint lid = (uint)get_local_id(0), slices = GROUP / side, slice = lid / side;
  const ulong q = get_group_id(0);
  nearest += nearest_at.first + q * nearest_at.stride;
  counts += counts_at.first + q * counts_at.stride;
  ulong best = 0;
  for (ulong c0 = 0; c0 < classes; c0 += side) {
    const ulong c = c0 + lid % side;
    uint votes = 0;
    for (ulong j0 = 0; j0 < k; j0 += STAGED) {
      for (uint j = lid; j < STAGED; j += GROUP)
        staged[j] = j0 + j < k ? label_of(nearest[j0 + j], labels + labels_first) : NO_ROW;
      barrier(CLK_LOCAL_MEM_FENCE);
      const uint end = (uint)min((ulong)STAGED, k - j0);
      for (uint j = slice; j < end; j += slices) votes += staged[j] == c;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
    parts[lid] = votes;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (slice == 0 && c < classes) {
      for (uint s = 1; s < slices; ++s) votes += parts[s * side + lid];
      counts[c] = votes;
      best = max(best, candidate(votes, (uint)c));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
  }
  elect(best, candidates, winner + winner_at.first + q * winner_at.stride);
}

// For CPU devices: does the same with one work-item per query, whose 16 lanes are 16 classes. No barrier, no
// local memory. Work per query: k comparisons and additions of vectors for every 16 classes.
kernel void kith_vote_branch_free_lanes(global const Key* restrict nearest, Place nearest_at, uint k,
                                        global const uint* restrict labels, ulong labels_first, uint classes,
                                        global uint* restrict counts, Place counts_at,
                                        global uint* restrict winner, Place winner_at) {
  const ulong q = get_global_id(0);
  nearest += nearest_at.first + q * nearest_at.stride;
  counts += counts_at.first + q * counts_at.stride;
  ulong best = 0;
  for (ulong c0 = 0; c0 < classes; c0 += 16) {
    const uint16 lanes = (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) + (uint)c0;
    int16 votes = 0;
    for (uint j = 0; j < k; ++j) votes -= (uint16)(label_of(nearest[j], labels + labels_first)) == lanes;
    uint each[16];
    vstore16(as_uint16(votes), 0, each);
    for (uint i = 0; i < 16 && c0 + i < classes; ++i) {
      counts[c0 + i] = each[i];
      best = max(best, candidate(each[i], (uint)c0 + i));
    }
  }
  winner[winner_at.first + q * winner_at.stride] = best == 0 ? NO_ROW : NO_ROW - (uint)best;
}
