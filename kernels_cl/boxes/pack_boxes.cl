// pack_boxes: rows in the places of an order, and the boxes around them (docs/boxes.md, section 2).
//
//   rows     [rows, dims]             training rows first_number, first_number + 1, ..., blocks of BLOCK rows
//   numbers  [p]                      the training row in each place
//   packed   [leaves, dims, 32]       the last leaf padded with its last row
//   inside   [leaves, dims, 32], or blocks of 32 boxes of the level below, [2, dims, 32]
//   bounds   [blocks, 2, dims, 32]    of one level: of 32 boxes the least of each dimension, then the largest
//
// kith_pack_rows: a work-item a place. What stands elsewhere is left to the other parts of the rows.
// kith_bound_boxes: a work-item a box and a dimension reads what is inside, 32 numbers in a line, twice where
// these are bounds. Work: each row is read twice and written once.
#include "common/common.cl"
#include "kith/spi/kernel_limits.def"

#define WIDTH KITH_BOX_ROWS

kernel void kith_pack_rows(global const float* restrict rows, uint first, uint count, uint first_number,
                           uint dims, global const uint* restrict numbers, ulong numbers_first, uint p,
                           global float* restrict packed, ulong packed_first) {
  const ulong place = get_global_id(0);
  if (place >= ((ulong)p + WIDTH - 1) / WIDTH * WIDTH) return;
  const uint number = numbers[numbers_first + min(place, (ulong)p - 1)];
  if (number < first_number || number - first_number >= count) return;
  const uint row = first + (number - first_number);
  rows += (size_t)(row / BLOCK) * dims * BLOCK + row % BLOCK;
  packed += packed_first + place / WIDTH * dims * WIDTH + place % WIDTH;
  for (uint d = 0; d < dims; ++d) packed[(size_t)d * WIDTH] = rows[(size_t)d * BLOCK];
}

// inside_block: elements of a block; largest: how far behind the least of what is inside its largest stand.
kernel void kith_bound_boxes(global const float* inside, ulong inside_first, ulong inside_block,
                             ulong largest, uint below, uint boxes, uint dims, global float* bounds,
                             ulong bounds_first, ulong bounds_block) {
  const uint box = (uint)get_global_id(0), d = (uint)get_global_id(1);
  if (box >= boxes) return;
  const uint count = min((uint)WIDTH, below - box * WIDTH);
  inside += inside_first + box * inside_block + (size_t)d * WIDTH;
  float lo = inside[0], hi = inside[largest];
  for (uint i = 1; i < count; ++i) {
    lo = inside[i] < lo ? inside[i] : lo;
    hi = hi < inside[largest + i] ? inside[largest + i] : hi;
  }
  bounds += bounds_first + box / WIDTH * bounds_block + (size_t)d * WIDTH + box % WIDTH;
  bounds[0] = lo;
  bounds[(size_t)dims * WIDTH] = hi;
}
