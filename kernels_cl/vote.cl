// vote: one vote for each neighbour; most votes win, of several classes the smallest.
//
//   nearest [q, k]         keys; NO_KEY does not vote
//   labels  [1, n]         a class for each training row
//   counts  [q, classes]   votes            winner [q, 1]   NO_ROW where nobody voted
//
// Work-item q counts the votes of query q. No barrier, no local memory.
// Work for each query: k + 2 classes steps.
#include "common.cl"

kernel void kith_vote(global const Key* restrict nearest, ulong nearest_first, ulong nearest_stride,
                      uint rows, uint k, global const uint* restrict labels, ulong labels_first, uint classes,
                      global uint* restrict counts, ulong counts_first, ulong counts_stride,
                      global uint* restrict winner, ulong winner_first, ulong winner_stride) {
  const uint q = (uint)get_global_id(0);
  if (q >= rows) return;
  nearest += nearest_first + q * nearest_stride;
  counts += counts_first + q * counts_stride;
  for (uint c = 0; c < classes; ++c) counts[c] = 0;
  for (uint j = 0; j < k; ++j)
    if (nearest[j] != NO_KEY) ++counts[labels[labels_first + (uint)nearest[j]]];

  uint best = NO_ROW, most = 0;
  for (uint c = 0; c < classes; ++c)
    if (counts[c] > most) {
      most = counts[c];
      best = c;
    }
  winner[winner_first + q * winner_stride] = best;
}
