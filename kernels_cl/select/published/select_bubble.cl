// select, bubble: K bubbles walk through the values of each list, as in PBKNN.
//
//   distances [q, t]            row-major, stride in elements, NaN only if masked
//   out       [q, lists * k]    keys, ascending in each list, padded with NO_KEY
//
// A bubble walks from the front of a list's values to the back, and compare-exchanges with each. So it
// carries the smallest value that the bubbles before it left, and leaves the others to those behind it:
// bubble b ends with the b-th smallest. Values that no bubble carries in the end are never sorted.
// Work: k compare-exchanges per value. Source: He, Pu, Li, Yan, PBKNN, Application of Electronic Technique
// 42(2), 2016. There a bubble is a work-item, and each compare-exchange costs two accesses to local memory
// and a barrier; in the kernels below, and in select_bubble_lanes.cl, registers hold several bubbles.
#include "common/common.cl"

#ifdef BUBBLES  // every item has all bubbles, at most 32, in registers

// Work-group w selects list w. Its items divide the values, neighbours to neighbours. In an item, four values
// at a time walk through the bubbles, one step apart, so that almost always all bubbles work at once. Then
// the items' lists are merged in pairs: the smaller of each key and its mirror image in the other list are
// the smallest of both, and a few steps of a bitonic network (Batcher 1968) sort them. Barriers: none while
// bubbles walk; log2(GROUP) (1 + log2(PLACES)) for the lists. Local memory: GROUP * PLACES keys; PLACES is
// BUBBLES rounded up to a power of two, and BUBBLES is at least k.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_select_bubble_registers(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint k,
    uint lists, global Key* restrict out, Place out_at) {
  local Key item_lists[PLACES * GROUP];  // key b of item i's list at b * GROUP + i
  const uint lid = (uint)get_local_id(0), g = (uint)(get_group_id(0) % lists);
  const ulong q = get_group_id(0) / lists;
  const uint begin = first_column(g, columns, lists), end = first_column(g + 1, columns, lists);
  global const float* row = distances + distances_at.first + q * distances_at.stride;

  Key bubble[BUBBLES];
#pragma unroll
  for (uint b = 0; b < BUBBLES; ++b) bubble[b] = NO_KEY;
  for (ulong t0 = (ulong)begin + lid; t0 < end; t0 += 4 * GROUP) {
    Key left[4];  // the values that walk, as the bubbles so far have left them
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
      const ulong t = t0 + i * GROUP;
      left[i] = t < end ? make_key(row[t], first_row + (uint)t) : NO_KEY;
    }
#pragma unroll
    for (uint i = 0; i < 4; ++i) {
#pragma unroll
      for (uint b = 0; b < BUBBLES; ++b) order_keys(bubble + b, left + i);
    }
  }
#pragma unroll
  for (uint b = 0; b < PLACES; ++b) item_lists[b * GROUP + lid] = b < BUBBLES ? bubble[b] : NO_KEY;
  barrier(CLK_LOCAL_MEM_FENCE);

  for (uint side = GROUP / 2; side > 0; side /= 2) {
    for (uint i = lid; i < side * PLACES; i += GROUP) {
      const uint list = i % side, b = i / side;
      local Key* key = item_lists + b * GROUP + list;
      *key = min(*key, item_lists[(PLACES - 1 - b) * GROUP + list + side]);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = PLACES / 2; step > 0; step /= 2) {
      for (uint i = lid; i < side * PLACES / 2; i += GROUP) {
        const uint pair = i / side, b = 2 * pair - (pair & (step - 1));
        local Key* low = item_lists + b * GROUP + i % side;
        local Key* high = low + step * GROUP;
        const Key x = *low, y = *high;
        *low = min(x, y);
        *high = max(x, y);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
  for (uint b = lid; b < k; b += GROUP)
    out[out_at.first + q * out_at.stride + (ulong)g * k + b] = item_lists[b * GROUP];
}

#else  // each work-item has PACK bubbles, for any k

// Work-group w selects list w. Item p carries bubbles p PACK ... p PACK + PACK - 1; if there are more packs
// than items, each item has several. Packs follow each other, one stretch of STRETCH positions apart: in step
// s pack p walks through stretch s - p. While s < packs, more and more bubbles walk; then all walk on
// together, until the last has reached the end. Only the values between the first pack and the last are kept,
// in a window:
//   window  [packs + 1, STRETCH + 1]  the additional stretch is staged for the next step; the gap behind each
//                                     stretch lets items use different banks of local memory
//   carry   [packs, PACK]
// There is a barrier for every STRETCH positions; between two barriers every item does STRETCH * PACK
// compare-exchanges, with one read and one write for each PACK of them. -D ITEMS is the number of
// work-items per group. It is a constant because PoCL 3.1 never ends loops that step by get_local_size(0)
// when STRETCH is 1. -D WINDOW=local; or global if a large k does not fit, and then it is scratch, with a
// part for each list.
kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void kith_select_bubble(
    global const float* restrict distances, Place distances_at, uint columns, uint first_row, uint k,
    uint lists, global Key* restrict out, Place out_at, WINDOW Key* windows, ulong window_stride) {
  const uint lid = (uint)get_local_id(0), g = (uint)(get_group_id(0) % lists);
  const ulong q = get_group_id(0) / lists;
  const uint begin = first_column(g, columns, lists);
  const uint width = first_column(g + 1, columns, lists) - begin;
  const uint packs = (k + PACK - 1) / PACK, kept = packs + 1;
  global const float* values = distances + distances_at.first + q * distances_at.stride + begin;
  WINDOW Key* window = windows + get_group_id(0) * window_stride;
  WINDOW Key* carry = window + (ulong)kept * (STRETCH + 1);

  const uint stretches = (uint)(((ulong)width + STRETCH - 1) / STRETCH);
  const ulong steps = width == 0 ? 0 : (ulong)stretches + packs - 1;
  for (ulong b = lid; b < (ulong)packs * PACK; b += ITEMS) carry[b] = NO_KEY;
  for (uint i = lid; i < STRETCH; i += ITEMS)
    window[i] = i < width ? make_key(values[i], first_row + begin + i) : NO_KEY;
  barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);

  for (ulong s = 0; s < steps; ++s) {
    if (s + 1 < stretches) {  // stages the columns that the first pack walks through next
      WINDOW Key* stretch = window + (s + 1) % kept * (STRETCH + 1);
      for (uint i = lid; i < STRETCH; i += ITEMS) {
        const ulong t = (s + 1) * STRETCH + i;
        stretch[i] = t < width ? make_key(values[t], first_row + begin + (uint)t) : NO_KEY;
      }
    }
    for (uint p = lid; p < packs && p <= s; p += ITEMS) {
      if (s - p >= stretches) continue;  // the pack has arrived
      WINDOW Key* stretch = window + (s - p) % kept * (STRETCH + 1);
      Key carried[PACK];
#pragma unroll
      for (uint b = 0; b < PACK; ++b) carried[b] = carry[(ulong)p * PACK + b];
#pragma unroll
      for (uint i = 0; i < STRETCH; ++i) {
        Key met = stretch[i];
#pragma unroll
        for (uint b = 0; b < PACK; ++b) order_keys(carried + b, &met);
        stretch[i] = met;
      }
#pragma unroll
      for (uint b = 0; b < PACK; ++b) carry[(ulong)p * PACK + b] = carried[b];
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
  }
  for (uint b = lid; b < k; b += ITEMS) out[out_at.first + q * out_at.stride + (ulong)g * k + b] = carry[b];
}

#endif
