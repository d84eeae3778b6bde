// mask: excludes the pairs of a tile that do not count, by writing a value that means "masked".
//
//   filter     [1 or q, words]  bit t % 32 of word t / 32 is 1 if training row t counts; the stride is 0 if
//                               one row of bits serves all queries
//   distances  [q, t]           row-major; written as bits, only where the filter has 0
//   from       [q, t]           with -D FROM: values that are copied to `distances` where the filter has 1
//
// Column j is training row first_row + j. Work is divided by words, so that each word is read once; it
// need not begin with column 0. Work-group w, or work-item w on CPU devices, handles piece w % pieces of
// row w / pieces.
// Work: one bit per pair, and one store for each pair that does not count, or with -D FROM for each pair.
#include "common/common.cl"

#ifdef FROM
#define FROM_GRID , global const uint *restrict from, Place from_at
#else
#define FROM_GRID
#endif

#if GROUP > 1

// Stages GROUP words in local memory, for 32 GROUP columns, so that neighbouring items write neighbouring
// values. One barrier. Local memory: GROUP words.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_mask(
    global const uint* restrict filter, Place filter_at, uint first_row, ulong pieces,
    global uint* restrict distances, Place distances_at, ulong columns FROM_GRID) {
  local uint words[GROUP];
  const uint lid = (uint)get_local_id(0);
  const ulong q = get_group_id(0) / pieces;
  const ulong begin = first_row, end = begin + columns;  // in training rows
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

#define WORDS 128  // words of a piece: 4096 columns

// Handles words of only ones or only zeros at once, not bit by bit. No barrier, no local memory.
kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_mask(
    global const uint* restrict filter, Place filter_at, uint first_row, ulong pieces,
    global uint* restrict distances, Place distances_at, ulong columns FROM_GRID) {
  const ulong q = get_global_id(0) / pieces;
  const ulong begin = first_row, end = begin + columns;  // in training rows
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
