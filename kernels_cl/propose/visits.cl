// Finds the training rows of a step, 128 at a time: they are contiguous, or in visits to blocks of rows
// (spi::Visits). Also declares the arguments of kernels that multiply.
// No twin in kernels_cuda: candidates.cuh has this.
#include "common/common.cl"
#include "kith/spi/kernel_limits.def"

#define VISIT_TILE KITH_QUANTIZED_BLOCK_ROWS

// Returns the first row of tile `tile` of a step; it may be behind the last row.
//   visits  tiles of a visit, number of the first visit, number of blocks of all rows, stride of the blocks
ulong row_of_tile(uint4 visits, uint tile) {
  const ulong block = ((ulong)visits.y + tile / visits.x) * visits.w % visits.z;
  return (block * visits.x + tile % visits.x) * VISIT_TILE;
}

// Goes through tiles without divisions.
typedef struct {
  uint block, within;  // a block of all rows, and a tile of that block
} Walk;

Walk walk_from(uint4 visits, uint tile) {
  const Walk at = {(uint)(((ulong)visits.y + tile / visits.x) * visits.w % visits.z), tile % visits.x};
  return at;
}

uint block_on(uint4 visits, uint block, uint by) {
  return block >= visits.z - by ? block - (visits.z - by) : block + by;
}

// Goes as far as from the first tile of the first visit to `step`.
Walk walk_by(uint4 visits, Walk at, Walk step) {
  at.within += step.within;
  at.block = block_on(visits, at.block, step.block);
  if (at.within < visits.x) return at;
  at.within -= visits.x;
  at.block = block_on(visits, at.block, visits.w);
  return at;
}

Walk walk_on(uint4 visits, Walk at) {
  if (++at.within < visits.x) return at;
  at.within = 0;
  at.block = block_on(visits, at.block, visits.w);
  return at;
}

// Returns the number of the tile among the tiles of all rows; it may be behind the last one.
uint tile_of_walk(uint4 visits, Walk at) {
  return at.block * visits.x + at.within;
}

// The products of a step. Products in proposer.hpp of the back end says which fields each kernel uses.
typedef struct {
  ulong queries_first, train_first;
  uint q_rows, t_rows;
  uint tiles;         // number of tiles of 128 training rows
  uint query_blocks;  // number of work-groups that take all queries
  uint a_part;        // number of tiles that a work-group takes
  uint steps, a_block;
  uint first_row;
  float unscale;
} Products;

// The places of the row terms of both sides.
typedef struct {
  Place queries, train;
} TermPlaces;
