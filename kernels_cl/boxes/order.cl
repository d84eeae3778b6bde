// order: computes for each row its place along a Hilbert curve, or its place in a cut of the parts of an
// order; then sort_places.cl sorts the row numbers by these places (docs/boxes.md, section 2).
//
//   rows     [n, dims]     blocks of BLOCK rows
//   frame    [COLUMNS + 1] minimum of each column, then the number of cells per unit
//   places   [n]           curve_bits x COLUMNS bits each; in a cut, the number of a part and 32 bits of
//                          a value
//   numbers  [n]           first_number + 0, 1, ...; in a cut, the row in each place so far
//
// One work-item handles one row. Work for the curve: the first COLUMNS columns of the row are read once;
// about 3 x BITS x COLUMNS operations. Work for a cut: one value of a row is read, at any place in memory.
// Sources: Skilling, Programming the Hilbert curve, 2004; Leutenegger, Lopez, Edgington, STR: a simple and
// efficient algorithm for R-tree packing, 1997.
#include "common/common.cl"

#define MOST_CELL ((1u << BITS) - 1u)

// Returns the number of the cell, 0 to MOST_CELL, in which a value lies.
uint cell_of(float value, float least, float cells) {
  const float at = (value - least) * cells;
  return at >= (float)MOST_CELL ? MOST_CELL : at > 0.0f ? (uint)at : 0;  // 0 for NaN
}

// Turns the coordinates of a cell into its place on the curve. The bits of the place alternate between the
// axes, starting with the highest bit of axis[0].
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

// Writes only rows first_number ... first_number + count - 1; other parts of the rows are handled separately.
//   part_bits    bits of the places of a part, before the cut
//   numbered     whether there is an order so far; if not, rows are in the order of their numbers
kernel void kith_place_in_cut(global const float* restrict rows, uint first, uint count, uint first_number,
                              uint dims, uint column, uint part_bits, uint numbered, uint n,
                              global ulong* restrict places, ulong places_first,
                              global uint* restrict numbers, ulong numbers_first) {
  const ulong place = get_global_id(0);
  if (place >= n) return;
  const uint number = numbered ? numbers[numbers_first + place] : (uint)place;
  if (number < first_number || number - first_number >= count) return;
  const uint row = first + (number - first_number);
  const float value = rows[((size_t)(row / BLOCK) * dims + column) * BLOCK + row % BLOCK];
  places[places_first + place] = place >> part_bits << 32 | ordered(value);
  numbers[numbers_first + place] = number;
}
