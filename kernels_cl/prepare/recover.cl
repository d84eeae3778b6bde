// recover: computes rows from the bytes of quantized rows on a grid, which represent them exactly.
//
//   quantized  [n, dims]   as prepare_int8.cl writes them, in lines of PIECES pieces (-D, 2, 4 or 8); `first`
//                          is in pieces of 16 bytes, and a row has `row_pieces`
//   centre     [dims]
//   rows       [blocks, dims, 32]  transposed: c + byte / scale, computed without rounding; the last block is
//                                  padded with 0
//
// A warp handles a piece of 16 dimensions of 32 rows, one row per item. Each item reads 16 bytes; the next
// warps read the rest of these lines. The warp writes whole lines.
// Work: n * dims bytes are read, and four times as many written. No barrier, no local memory. Source:
// docs/certificate.md, section 4.
#include "prepare/byte_lines.cl"

#define GROUP 256
#define BLOCK KITH_ROWS_A_BLOCK
#define WARP 32
#define PIECE_DIMS 16

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_recover(
    global const uint4* restrict quantized, ulong first, uint row_pieces, global const float* restrict centre,
    ulong centre_first, float unscale, global float* restrict rows, ulong rows_first, uint count, uint dims) {
  const uint pieces = (dims + PIECE_DIMS - 1) / PIECE_DIMS, lane = (uint)get_local_id(0) % WARP;
  const ulong warp = get_global_id(0) / WARP, block = warp / pieces;
  if (block * BLOCK >= count) return;
  const uint p = (uint)(warp % pieces), row = (uint)(block * BLOCK) + lane;
  const bool there = row < count;
  quantized += first + (size_t)(row / KITH_QUANTIZED_BLOCK_ROWS * KITH_QUANTIZED_BLOCK_ROWS) * row_pieces;
  const uint4 piece = there ? quantized[place_of(row % KITH_QUANTIZED_BLOCK_ROWS, p)] : (uint4)(0);
  const float16 bytes = convert_float16(as_char16(piece));
  float values[PIECE_DIMS];
  vstore16(bytes, 0, values);
  rows += rows_first + block * dims * BLOCK + lane;
  centre += centre_first;
#pragma unroll
  for (uint i = 0; i < PIECE_DIMS; ++i) {
    const uint d = p * PIECE_DIMS + i;
    if (d >= dims) return;
    rows[(size_t)d * BLOCK] = there ? fma(values[i], unscale, centre[d]) : 0.0f;
  }
}
