// mask: strike out the pairs of a tile that do not count.
//
//   filter     [1 or q, words]  bit t % 32 of word t / 32 is 1 where training row t counts; the stride is 0
//                               where one row of bits serves all queries
//   distances  [q, t]           row-major; written as bits, only where the filter says 0
//   from       [q, t]           with -D FROM: likewise, written to `distances` where the filter says 1
//
// Column j is training row first_row + j. Work is cut along words, so that a word is read once, and need not
// begin with column 0. Work-group w, or work-item w of CPU devices, has piece w % pieces of row w / pieces.
// Work: a bit a pair, and a store for each that does not count, or that there is.
#include "common/common.cl"

#define MASKED 0x7FFFFFFFu  // a NaN that ordered() puts behind +infinity

#ifdef FROM
#define FROM_GRID , global const uint *restrict from, Place from_at
#else
#define FROM_GRID
#endif

#if GROUP > 1

// GROUP words, staged in local memory, for 32 GROUP columns: neighbouring items write neighbours.
// One barrier. Local memory: GROUP words.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_mask(
    global const uint* restrict filter, Place filter_at, uint first_row, ulong pieces,
    global uint* restrict distances, Place distances_at, ulong columns FROM_GRID) {
  local uint words[GROUP];
  const uint lid = (uint)get_local_id(0);
  const ulong q = get_group_id(0) / pieces;
  const ulong begin = first_row, end = begin + columns;  // training rows
  const ulong w0 = begin / 32 + get_group_id(0) % pieces * GROUP;
  words[lid] =
      (w0 + lid) * 32 < end ? filter[filter_at.first + q * filter_at.stride + w0 + lid] : 0xFFFFFFFFu;
  barrier(CLK_LOCAL_MEM_FENCE);
  global uint* row = distances + distances_at.first + q * distances_at.stride;
  for (uint i = lid; i < 32 * GROUP; i += GROUP) {
    const ulong t = w0 * 32 + i;
    if (t < begin || t >= end) continue;
    const uint counts = words[i / 32] >> i % 32 & 1;
#ifdef FROM
    row[t - begin] = counts ? from[from_at.first + q * from_at.stride + (t - begin)] : MASKED;
#else
    if (!counts) row[t - begin] = MASKED;
#endif
  }
}

#else

#define WORDS 128  // a piece: 4096 columns

// No barrier, no local memory; words of ones or of zeros are not looked at bit by bit.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_mask(
    global const uint* restrict filter, Place filter_at, uint first_row, ulong pieces,
    global uint* restrict distances, Place distances_at, ulong columns FROM_GRID) {
  const ulong q = get_global_id(0) / pieces;
  const ulong begin = first_row, end = begin + columns;  // training rows
  const ulong w0 = begin / 32 + get_global_id(0) % pieces * WORDS;
  filter += filter_at.first + q * filter_at.stride;
  global uint* row = distances + distances_at.first + q * distances_at.stride;
  for (ulong w = w0; w < w0 + WORDS && w * 32 < end; ++w) {
    const uint word = filter[w];
#ifdef FROM
    for (ulong t = max(w * 32, begin); t < min(w * 32 + 32, end); ++t)
      row[t - begin] = word >> t % 32 & 1 ? from[from_at.first + q * from_at.stride + (t - begin)] : MASKED;
#else
    if (word == 0xFFFFFFFFu) continue;
    if (word == 0 && w * 32 >= begin && w * 32 + 32 <= end) {
      vstore16((uint16)(MASKED), 0, row + (w * 32 - begin));
      vstore16((uint16)(MASKED), 1, row + (w * 32 - begin));
      continue;
    }
    for (ulong t = max(w * 32, begin); t < min(w * 32 + 32, end); ++t)
      if (!(word >> t % 32 & 1)) row[t - begin] = MASKED;
#endif
  }
}

#endif
