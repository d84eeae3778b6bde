// Where the training rows of a step lie, 128 at a time: one behind the other, or in visits to blocks of them
// (spi::Visits).
#define VISIT_TILE 128

// The first row of tile `tile` of a step, which may lie behind the last there is.
//   visits  tiles of a visit, number of the first visit, blocks of all rows, stride of the blocks
ulong row_of_tile(uint4 visits, uint tile) {
  const ulong block = ((ulong)visits.y + tile / visits.x) * visits.w % visits.z;
  return (block * visits.x + tile % visits.x) * VISIT_TILE;
}
