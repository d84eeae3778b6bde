// pack_boxes: copies rows into the places of an order, and computes the boxes around them (docs/boxes.md,
// section 2).
//
//   rows     [rows, dims]             training rows first_number, first_number + 1, ..., blocks of BLOCK rows
//   numbers  [p]                      the training row in each place
//   packed   [leaves, dims, 32]       the last leaf is padded with its last row
//   inside   [leaves, dims, 32], or blocks of 32 boxes of the level below, [2, dims, 32]
//   bounds   [blocks, 2, dims, 32]    of one level: the minima of 32 boxes in each dimension, then the maxima
//
// kith_pack_rows: one work-item handles one place. It skips rows of other parts, which are copied with those.
// kith_halve_parts: a work-group of GROUP items takes the rows of PART places, sorts them by one column, then
// each half by another, and so on until halves are leaves, and writes rows and numbers back in this order.
// Local memory: PART keys and GROUP numbers. Barriers: about 200, and one per column. Work: PART / 2
// comparisons in each of 185 steps of its sorts; one column of each row is read at each of five levels; then
// each row is read once and written once.
// kith_bound_boxes: one work-item handles one dimension of one box. It reads what is inside, 32 contiguous
// numbers at a time, twice if these are bounds. Work: each row is read twice and written once.
// Source: Friedman, Bentley, Finkel, An algorithm for finding best matches in logarithmic expected time,
// 1977.
#define GROUP 256  // of kith_halve_parts
#include "common/sort.cl"
#include "kith/spi/kernel_limits.def"

#define WIDTH KITH_BOX_ROWS
#define PART KITH_PART_ROWS
#define EACH (PART / GROUP)
#define MOST_COLUMNS KITH_MOST_CURVE_COLUMNS

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

// Returns where a column of the row at a place is stored.
size_t at_place(uint place, uint column, uint dims) {
  return ((size_t)(place / WIDTH) * dims + column) * WIDTH + place % WIDTH;
}

// Returns the extent of some rows in a column: maximum less minimum of a sample of WIDTH of `count` rows.
//   keys  of these rows; their lower half is the place that the row came from
float reach_of(local const Key* keys, uint count, global const float* rows, uint column, uint dims) {
  float least = INFINITY, largest = -INFINITY;
  for (uint j = 0; j < WIDTH; ++j) {
    const float value = rows[at_place((uint)keys[j * count / WIDTH], column, dims)];
    least = fmin(least, value);
    largest = fmax(largest, value);
  }
  return largest - least;
}

// Returns the column with the largest extent, the first of equal ones.
uint widest_of(local const float* reaches, uint columns) {
  uint widest = 0;
  for (uint d = 1; d < columns; ++d)
    if (reaches[d] > reaches[widest]) widest = d;
  return widest;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_halve_parts(
    global float* packed, ulong packed_first, global uint* numbers, ulong numbers_first, uint p, uint dims) {
  local Key keys[PART];
  local float reaches[GROUP];  // [halves, columns]
  local uint widest[GROUP / MOST_COLUMNS];
  const uint lid = (uint)get_local_id(0), begin = (uint)get_group_id(0) * PART;
  const uint count = min((uint)PART, p - begin), columns = min(dims, (uint)MOST_COLUMNS);
  packed += packed_first + (size_t)begin * dims;
  numbers += numbers_first + begin;
  for (uint i = lid; i < PART; i += GROUP) keys[i] = i < count ? make_key(0.0f, i) : NO_KEY;
  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint size = PART; size > WIDTH; size /= 2) {
    const uint first = lid / columns * size;  // first place of the part that this item examines
    if (first < count)
      reaches[lid] = reach_of(keys + first, min(size, count - first), packed, lid % columns, dims);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid * size < count) widest[lid] = widest_of(reaches + lid * columns, columns);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < count; i += GROUP) {
      const uint place = (uint)keys[i];
      keys[i] = make_key(packed[at_place(place, widest[i / size], dims)], place);
    }
    sort_runs(keys, PART, size);
  }
  const uint padded = (count + WIDTH - 1) / WIDTH * WIDTH;
  uint came[EACH], number[EACH];
  float value[EACH];
  for (uint j = 0; j < EACH; ++j) came[j] = (uint)keys[min(lid + j * GROUP, count - 1)];
  for (uint d = 0; d < dims; ++d) {
    for (uint j = 0; j < EACH; ++j) value[j] = packed[at_place(came[j], d, dims)];
    barrier(CLK_GLOBAL_MEM_FENCE);  // a column is read before it is written
    for (uint j = 0; j < EACH; ++j)
      if (lid + j * GROUP < padded) packed[at_place(lid + j * GROUP, d, dims)] = value[j];
  }
  for (uint j = 0; j < EACH; ++j) number[j] = numbers[came[j]];
  barrier(CLK_GLOBAL_MEM_FENCE);
  for (uint j = 0; j < EACH; ++j)
    if (lid + j * GROUP < count) numbers[lid + j * GROUP] = number[j];
}

// `inside_block` is the number of elements of a block, `largest` the distance from the minima of what is
// inside to the maxima.
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
