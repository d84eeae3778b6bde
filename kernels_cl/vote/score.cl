// score: adds the weights of the neighbours of each class in the order of their ranks, starting at 0.
//
//   nearest [q, k]         keys; NO_KEY has no vote
//   weights [q, k]         finite, >= 0
//   labels  [1, n]         the class of each training row
//   sums    [q, classes]   each addition is rounded once, so that the order determines the result
//
// The classes of the neighbours are not known in advance, but only neighbours of the same class have to wait
// for each other.
#include "common/common.cl"

#if GROUP > 1

// TEAM of the GROUP work-items handle a query, TEAM neighbours at a time, one per item. The item of the first
// neighbour of a class adds the others of this class, in order, to the sum so far. Each class has only one
// such item, so that no addition is atomic.
// Work per query: `classes` stores, and k steps of each item. Barriers: 1 + 2 ceil(k / TEAM). Local memory:
// GROUP labels and weights.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_score(
    global const Key* restrict nearest, Place nearest_at, uint rows, uint k,
    global const float* restrict weights, Place weights_at, global const uint* restrict labels,
    ulong labels_first, uint classes, global float* sums, Place sums_at) {
  local uint staged_labels[GROUP];
  local float staged_weights[GROUP];
  const uint lid = (uint)get_local_id(0), member = lid % TEAM;
  const ulong q = (ulong)get_group_id(0) * (GROUP / TEAM) + lid / TEAM;
  local const uint* label = staged_labels + (lid - member);
  local const float* weight = staged_weights + (lid - member);
  nearest += nearest_at.first + q * nearest_at.stride;
  weights += weights_at.first + q * weights_at.stride;
  sums += sums_at.first + q * sums_at.stride;
  if (q < rows)
    for (ulong c = member; c < classes; c += TEAM) sums[c] = 0.0f;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  for (ulong j0 = 0; j0 < k; j0 += TEAM) {
    const ulong j = j0 + member;
    const Key key = q < rows && j < k ? nearest[j] : NO_KEY;
    const uint mine = key == NO_KEY ? NO_ROW : labels[labels_first + (uint)key];
    staged_labels[lid] = mine;
    staged_weights[lid] = key == NO_KEY ? 0.0f : weights[j];
    barrier(CLK_LOCAL_MEM_FENCE);
    uint i = 0;
    while (i < member && label[i] != mine) ++i;
    if (mine != NO_ROW && i == member) {
      float sum = sums[mine];
      for (; i < (uint)min((ulong)TEAM, k - j0); ++i)
        if (label[i] == mine) sum += weight[i];
      sums[mine] = sum;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
}

#else

// For CPU devices: work-item q handles query q. No barrier, no local memory. Work: k + classes steps.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_score(
    global const Key* restrict nearest, Place nearest_at, uint rows, uint k,
    global const float* restrict weights, Place weights_at, global const uint* restrict labels,
    ulong labels_first, uint classes, global float* restrict sums, Place sums_at) {
  const ulong q = get_global_id(0);
  nearest += nearest_at.first + q * nearest_at.stride;
  weights += weights_at.first + q * weights_at.stride;
  sums += sums_at.first + q * sums_at.stride;
  for (uint c = 0; c < classes; ++c) sums[c] = 0.0f;
  for (uint j = 0; j < k; ++j)
    if (nearest[j] != NO_KEY) sums[labels[labels_first + (uint)nearest[j]]] += weights[j];
}

#endif
