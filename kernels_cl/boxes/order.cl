// order: the place of each row along a Hilbert curve, as a number, and its number beside it, which
// sort_places.cl then sorts.
//
//   rows     [n, dims]     blocks of BLOCK rows
//   frame    [COLUMNS + 1] least of each column, then cells a unit
//   places   [n]           curve_bits x COLUMNS bits each
//   numbers  [n]           first_number + 0, 1, ...
//
// A work-item a row. Work: the row's first COLUMNS columns are read once; some 3 x BITS x COLUMNS operations.
// Source: Skilling, Programming the Hilbert curve, 2004.
#include "common/common.cl"

#define MOST_CELL ((1u << BITS) - 1u)

// Where a value lies between 0 and MOST_CELL.
uint cell_of(float value, float least, float cells) {
  const float at = (value - least) * cells;
  return at >= (float)MOST_CELL ? MOST_CELL : at > 0.0f ? (uint)at : 0;  // 0 if it is no number
}

// Turn the cell into the place, whose bits stand in turns, the highest of axis[0] first.
void to_curve(uint* axis) {
  for (uint bit = 1u << (BITS - 1); bit > 1; bit >>= 1)
    for (uint d = 0; d < COLUMNS; ++d)
      if (axis[d] & bit) {
        axis[0] ^= bit - 1;
      } else {
        const uint differ = (axis[0] ^ axis[d]) & (bit - 1);
        axis[0] ^= differ;
        axis[d] ^= differ;
      }
  for (uint d = 1; d < COLUMNS; ++d) axis[d] ^= axis[d - 1];
  uint turn = 0;
  for (uint bit = 1u << (BITS - 1); bit > 1; bit >>= 1)
    if (axis[COLUMNS - 1] & bit) turn ^= bit - 1;
  for (uint d = 0; d < COLUMNS; ++d) axis[d] ^= turn;
}

kernel void kith_order(global const float* restrict rows, uint first, uint n, uint dims,
                       global const float* restrict frame, ulong frame_first, global ulong* restrict places,
                       ulong places_first, global uint* restrict numbers, ulong numbers_first,
                       uint first_number) {
  const uint i = (uint)get_global_id(0);
  if (i >= n) return;
  const uint row = first + i;
  frame += frame_first;
  uint axis[COLUMNS];
  for (uint d = 0; d < COLUMNS; ++d)
    axis[d] =
        cell_of(rows[((size_t)(row / BLOCK) * dims + d) * BLOCK + row % BLOCK], frame[d], frame[COLUMNS]);
  to_curve(axis);
  ulong place = 0;
  for (uint bit = BITS; bit-- > 0;)
    for (uint d = 0; d < COLUMNS; ++d) place = place << 1 | (axis[d] >> bit & 1);
  places[places_first + i] = place;
  numbers[numbers_first + i] = first_number + i;
}
