// The products of a warp of 32 items: 64 queries by 64 training rows, a stage of up to 64 bytes of each at
// a time, from local memory. collect_tiles.cl is written for this interface, which hides how a device
// multiplies:
//
//   LocalPieces, local_pieces()           an address of pieces of 16 bytes; PIECE_STEP leads to the next
//   Fragments                             operands that are kept between calls
//   first_queries(), first_rows()         the addresses from which an item reads
//   begin_fragments()                     is called before the first stage
//   multiply_stage()                      the first part of a stage; behind it and a barrier the stage may
//                                         be overwritten
//   multiply_rest()                       the second part, which begins to read the next stage
//
// Compiled with -D LINE_PIECES=n, pieces in a line. An item has 128 sums: [i][4 j + 2 h + e] belongs to
// query 16 i + 8 h + lane / 4 and row 8 j + 2 (lane % 4) + e. ALONG is 8; append_fp16.cl declares
// Accumulator.
//
// On tensor cores, by PTX, these are products of 16-bit floats, or of bytes with -D BYTES; operands are
// loaded ahead. With -D ITEMS and BYTES, each item computes its own sums by dot products of four
// bytes (items.cl).
// No twin in kernels_cuda: collect_fp16.cu has a shape of its own for each kind of rows.
#include "common/common.cl"

#define WARP_ROWS 64
#define ACROSS 4                                    // matrices of 16 queries per warp
#define PIECES (LINE_PIECES < 4 ? LINE_PIECES : 4)  // pieces of a row in a stage

// Returns the place of piece p of row r, if each row has `pieces` pieces.
uint place_of(uint pieces, uint r, uint p) {
  return r * pieces + (p ^ (r * pieces / 8 % pieces));
}

#ifdef ITEMS
#include "common/items.cl"
#define PIECE_STEP 1
typedef local uint4* LocalPieces;
typedef int Fragments;  // not used

LocalPieces local_pieces(local uint4* at) {
  return at;
}

LocalPieces first_queries(LocalPieces stage, uint warp_q, uint lane) {
  return stage + (warp_q + lane / 4) * PIECES;
}

LocalPieces first_rows(LocalPieces stage, uint warp_t, uint lane) {
  return stage + (warp_t + lane % 4 * 2) * PIECES;
}

ALL_INLINE void begin_fragments(Fragments* at, LocalPieces queries, LocalPieces rows) {}

ALL_INLINE void multiply_stage(Accumulator sums[ACROSS][4 * ALONG], Fragments* at, LocalPieces queries,
                               LocalPieces rows, uint lane) {
  const uint turn_q = lane / 4 * PIECES / 8 % PIECES, turn_t = lane % 4 * 2 * PIECES / 8 % PIECES;
#pragma unroll 1
  for (uint piece = 0; piece < PIECES; ++piece) {
    uint4 a[2 * ACROSS];
#pragma unroll
    for (uint i = 0; i < 2 * ACROSS; ++i) a[i] = queries[8 * i * PIECES + (piece ^ turn_q)];
#pragma unroll
    for (uint j = 0; j < 2 * ALONG; ++j) {
      const uint4 b = rows[(j / 2 * 8 + j % 2) * PIECES + (piece ^ turn_t)];
#pragma unroll
      for (uint i = 0; i < 2 * ACROSS; ++i)
        sums[i / 2][j / 2 * 4 + i % 2 * 2 + j % 2] +=
            dot_of_bytes(a[i].s0, b.s0) + dot_of_bytes(a[i].s1, b.s1) + dot_of_bytes(a[i].s2, b.s2) +
            dot_of_bytes(a[i].s3, b.s3);
    }
  }
}

ALL_INLINE void multiply_rest(Accumulator sums[ACROSS][4 * ALONG], Fragments* at, LocalPieces queries,
                              LocalPieces rows) {}
#else
#include "common/tensor.cl"
#define PIECE_STEP PIECE_BYTES
#define HALF_STAGE (2 * PIECE_BYTES)  // combined with addresses by exclusive or
#ifdef BYTES
#define MULTIPLY_STEP MULTIPLY_BYTES
#else
#define MULTIPLY_STEP MULTIPLY
#endif
typedef uint LocalPieces;  // PTX addresses

LocalPieces local_pieces(local const uint4* at) {
  return local_address(at);
}

// The operands that a warp multiplies at once: 32 bytes of each row.
typedef struct {
  uint a[ACROSS][4], b[ALONG / 2][4];
} Operands;
typedef struct {
  Operands now, next;
} Fragments;

// The matrices of a: rows 0-7, rows 8-15, then both for the next 16 bytes. The matrices of b: rows 0-7,
// the same for the next 16 bytes, then both for rows 8-15.
LocalPieces first_queries(LocalPieces stage, uint warp_q, uint lane) {
  return stage + place_of(PIECES, warp_q + lane % 16, lane / 16) * PIECE_BYTES;
}

LocalPieces first_rows(LocalPieces stage, uint warp_t, uint lane) {
  return stage + place_of(PIECES, warp_t + lane % 8 + lane / 16 * 8, lane / 8 % 2) * PIECE_BYTES;
}

ALL_INLINE void load_operands(Operands* operands, LocalPieces queries, LocalPieces rows) {
#pragma unroll
  for (uint i = 0; i < ACROSS; ++i) LOAD_MATRICES(operands->a[i], queries + i * 16 * PIECES * PIECE_BYTES);
#pragma unroll
  for (uint j = 0; j < ALONG / 2; ++j) LOAD_MATRICES(operands->b[j], rows + j * 16 * PIECES * PIECE_BYTES);
}

ALL_INLINE void multiply(Accumulator sums[ACROSS][4 * ALONG], const Operands* operands) {
#pragma unroll
  for (uint j = 0; j < ALONG; ++j)
#pragma unroll
    for (uint i = 0; i < ACROSS; ++i)
      MULTIPLY_STEP(sums[i] + 4 * j, operands->a[i], operands->b[j / 2][j % 2 * 2],
                    operands->b[j / 2][j % 2 * 2 + 1]);
}

ALL_INLINE void begin_fragments(Fragments* at, LocalPieces queries, LocalPieces rows) {
  load_operands(&at->now, queries, rows);
}

ALL_INLINE void multiply_stage(Accumulator sums[ACROSS][4 * ALONG], Fragments* at, LocalPieces queries,
                               LocalPieces rows, uint lane) {
  load_operands(&at->next, queries ^ HALF_STAGE, rows ^ HALF_STAGE);
  multiply(sums, &at->now);
}

ALL_INLINE void multiply_rest(Accumulator sums[ACROSS][4 * ALONG], Fragments* at, LocalPieces queries,
                              LocalPieces rows) {
  load_operands(&at->now, queries, rows);
  multiply(sums, &at->next);
}
#endif
