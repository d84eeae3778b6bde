// Finds the training rows of a step, 128 at a time: they lie one behind the other, or in visits to blocks of
// rows (spi::Visits).
// No twin in kernels_cuda: candidates.cuh has this.
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
