// Merges runs 0 and 1, 2 and 3, ... of each list; a last run without a partner is copied.
//
//   in   [q, lists, total]  runs of `run` keys, the last may be short
//   out  [q, lists, ...]    runs of `out_run` keys, the smallest of each pair
//
// Work-item (x, g, q) writes PIECE neighbouring keys of list (q, g): it finds where its piece begins by
// binary search along a diagonal, and then merges key by key. No barrier. Source: Odeh, Green, Mwassi,
// Shmueli, Birk, Merge Path, 2012.
#include "merge/merge_path.cl"

kernel void kith_merge_runs(global const Key* restrict in, Place in_at, uint total, uint run, uint pieces,
                            global Key* restrict out, Place out_at, uint out_total, uint out_run) {
  const ulong g = get_global_id(1), q = get_global_id(2);
  const ulong pair = get_global_id(0) / pieces;
  const ulong piece = get_global_id(0) % pieces * PIECE;  // its first key in the pair's output
  const ulong a_begin = 2 * pair * run;
  if (a_begin >= total) return;
  const uint a_size = (uint)min((ulong)run, total - a_begin);
  const uint b_size = (uint)min((ulong)run, total - a_begin - a_size);
  const ulong size = min((ulong)out_run, (ulong)a_size + b_size);
  if (piece >= size) return;
  global const Key* a = in + in_at.first + q * in_at.stride + g * total + a_begin;
  global const Key* b = a + a_size;
  global Key* to = out + out_at.first + q * out_at.stride + g * out_total + pair * out_run;

  uint i = from_first(a, a_size, b, b_size, (uint)piece), j = (uint)piece - i;
  const uint end = (uint)min(size, piece + PIECE);
  for (uint o = (uint)piece; o < end; ++o)
    to[o] = j >= b_size || (i < a_size && a[i] <= b[j]) ? a[i++] : b[j++];
}
