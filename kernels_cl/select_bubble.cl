// select by K bubbles: the grouped selection of PBKNN.
//
//   distances [q, t]            row-major, stride in elements, no NaN
//   out       [q, groups * k]   keys, ascending in each list, padded with NO_KEY
//
// One work-group for each (query, group), one work-item for each of k bubbles; where k exceeds the
// group, a work-item carries several. A bubble walks from the front of the group's values to the
// back, compare-exchanging with each, so that it carries the smallest of what the bubbles before
// it left, and leaves the rest to those behind it: bubble b ends as the b-th smallest.
// The bubbles follow each other one stretch of STRETCH positions apart: in step s bubble b walks
// stretch s - b. While s < k bubbles grow in number; then all k walk on together, until the last
// has reached the end. (The paper's stretch is one position, and pays a barrier for each
// compare-exchange; a longer one does the same compare-exchanges with fewer barriers.) The window
// between the first bubble and the last is all that is kept of the values:
//   window  [k + 1, STRETCH]  one more stretch is staged for the next step
//   carry   [k]
// Work: t / groups + STRETCH (k - 1) compare-exchanges a bubble, a barrier every STRETCH of them.
// -D ITEMS: work-items a group; as a constant, since PoCL 3.1 lets loops that step by
// get_local_size(0) run on without end when STRETCH is 1.
// -D WINDOW=local, or global where a large k does not fit: then in scratch, a part for each group.
// Source: He, Pu, Li, Yan, PBKNN, Application of Electronic Technique 42(2), 2016.
#include "common.cl"

kernel void kith_select_bubble(global const float* restrict distances, ulong first, ulong stride,
                               uint columns, uint first_row, uint k, uint groups, global Key* restrict out,
                               ulong out_first, ulong out_stride, WINDOW Key* windows, ulong window_stride) {
  const uint lid = (uint)get_local_id(0), items = ITEMS;
  const uint g = (uint)get_group_id(0);
  const ulong q = get_group_id(1);
  const uint begin = first_column(g, columns, groups);
  const uint width = first_column(g + 1, columns, groups) - begin;
  global const float* values = distances + first + q * stride + begin;
  WINDOW Key* window = windows + (q * groups + g) * window_stride;
  WINDOW Key* carry = window + (ulong)(k + 1) * STRETCH;

  const uint stretches = (width + STRETCH - 1) / STRETCH;
  const uint steps = width == 0 ? 0 : stretches + k - 1;
  for (uint b = lid; b < k; b += items) carry[b] = NO_KEY;
  for (uint i = lid; i < STRETCH; i += items)
    window[i] = i < width ? make_key(values[i], first_row + begin + i) : NO_KEY;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

  for (uint s = 0; s < steps; ++s) {
    if (s + 1 < stretches) {  // stage what bubble 0 walks next
      WINDOW Key* stretch = window + (ulong)((s + 1) % (k + 1)) * STRETCH;
      for (uint i = lid; i < STRETCH; i += items) {
        const uint t = (s + 1) * STRETCH + i;
        stretch[i] = t < width ? make_key(values[t], first_row + begin + t) : NO_KEY;
      }
    }
    for (uint b = lid; b < k && b <= s; b += items) {
      if (s - b >= stretches) continue;  // it has arrived
      WINDOW Key* stretch = window + (ulong)((s - b) % (k + 1)) * STRETCH;
      Key carried = carry[b];
#pragma unroll
      for (uint i = 0; i < STRETCH; ++i) {
        const Key met = stretch[i];
        stretch[i] = max(carried, met);
        carried = min(carried, met);
      }
      carry[b] = carried;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  for (uint b = lid; b < k; b += items) out[out_first + q * out_stride + (ulong)g * k + b] = carry[b];
}
