// The layout of quantized rows of bytes: blocks of 128 rows, which consist of slabs with PIECES pieces of 16
// bytes per row; the pieces of a row are a line. Compiled with -D PIECES=n.
// No twin in kernels_cuda: prepare_quantized.cuh has this.
#include "kith/spi/kernel_limits.def"

// Returns the place of piece p of row r in a block. The same piece of 8 neighbouring rows is in 8 different
// banks of local memory.
uint place_of(uint r, uint p) {
  const uint turn = r * PIECES / 8 % PIECES;
  return (p / PIECES * KITH_QUANTIZED_BLOCK_ROWS + r) * PIECES + (p % PIECES ^ turn);
}
