// Where quantized rows of bytes lie: blocks of 128 rows, of each slabs of PIECES pieces of 16 bytes, in which
// a row is a line. Compiled with -D PIECES=n.
// No twin in kernels_cuda: prepare_quantized.cuh has it.
#include "kith/spi/kernel_limits.def"

// Where piece p of row r stands in a block. The same piece of 8 neighbouring rows never meets in a bank of
// local memory.
uint place_of(uint r, uint p) {
  const uint turn = r * PIECES / 8 % PIECES;
  return (p / PIECES * KITH_QUANTIZED_BLOCK_ROWS + r) * PIECES + (p % PIECES ^ turn);
}
