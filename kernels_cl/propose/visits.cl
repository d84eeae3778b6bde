// Finds the training rows of a step, 128 at a time: they lie one behind the other, or in visits to blocks of
// rows (spi::Visits). Declares what else kernels are told of the products of a step.
// No twin in kernels_cuda: candidates.cuh has this.
#include "common/common.cl"
#include "kith/spi/kernel_limits.def"

#define VISIT_TILE KITH_QUANTIZED_BLOCK_ROWS

// The first row of tile `tile` of a step, which may lie behind the last there is.
//   visits  tiles of a visit, number of the first visit, blocks of all rows, stride of the blocks
ulong row_of_tile(uint4 visits, uint tile) {
  const ulong block = ((ulong)visits.y + tile / visits.x) * visits.w % visits.z;
  return (block * visits.x + tile % visits.x) * VISIT_TILE;
}

// Tiles one after the other, without divisions.
typedef struct {
  uint block, within;  // of all rows, and tile of that
} Walk;

Walk walk_from(uint4 visits, uint tile) {
  const Walk at = {(uint)(((ulong)visits.y + tile / visits.x) * visits.w % visits.z), tile % visits.x};
  return at;
}

Walk walk_on(uint4 visits, Walk at) {
  if (++at.within < visits.x) return at;
  at.within = 0;
  at.block += visits.w;
  if (at.block >= visits.z) at.block -= visits.z;
  return at;
}

// Of tiles of all rows, in their order; there may be no such tile.
uint tile_of_walk(uint4 visits, Walk at) {
  return at.block * visits.x + at.within;
}

// The products of a step: Products in proposer.hpp of the back end, which says what each kernel takes of it.
typedef struct {
  ulong queries_first, train_first;
  uint q_rows, t_rows;
  uint tiles;         // of 128 training rows
  uint query_blocks;  // that as many work-groups take
  uint a_part;        // tiles of a work-group
  uint steps, a_block;
  uint first_row;
  float unscale;
} Products;

// Where the row terms of both sides stand.
typedef struct {
  Place queries, train;
} TermPlaces;
