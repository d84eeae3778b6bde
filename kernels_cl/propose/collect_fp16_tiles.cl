// collect, fp16: as collect_fp16.cl, for rows of any number of dimensions above 32.
//
//   queries   [q, dims]   train [t, dims]   quantized rows of 16-bit floats, as prepare_fp16.cl writes them
//   low       [places]    the values from which products are subtracted (collect_low.cl), `gap_first` floats
//                         before `gap`
//   threshold [q]         stride in elements
//   rows, counts, lows, highs             see candidates.cl
//
// Compiled with -D SAMPLE if `rows` is a sample of bounds. A work-group of 4 warps handles 128 queries and,
// one after another, tiles of 128 training rows (visits.cl). Each warp takes 64 by 64 of these, which are 128
// sums per item. Both sides are copied to local memory in stages of 32 dimensions, half a line of each row.
// There are three stages of training rows, and two of queries, which are more often in the cache. A warp
// loads its next operands while it multiplies, so that a stage can be overwritten before its products are
// complete. A row is kept if low - product is at most the threshold, which is so for about one in thousands.
// Work: q * t * dims multiply-adds in steps of m16n8k16, and two instructions per pair. Each row is read once
// for 128 rows of the other side, and from local memory once for 64: 128 bytes per step. There is one barrier
// for every 32 dimensions. Local memory: 40 KiB, and 4 KiB for findings (append_fp16.cl), of the 48 KiB that
// exist. With up to 255 registers, two groups share a multiprocessor. Source: docs/certificate.md; appending
// under a threshold: as in FaSTED (Curless, Gowanlock 2025).
// No twin in kernels_cuda: collect_fp16.cu is for rows of any number of dimensions.
#define ALONG 8  // matrices of 8 training rows per warp
#include "propose/append_fp16.cl"
#include "propose/visits.cl"

#define WARP 32
#define GROUP (4 * WARP)
#define WARP_ROWS 64
#define ACROSS 4       // matrices of 16 queries per warp
#define LINE_PIECES 8  // pieces of 8 halves in a line, which is 64 dimensions of a row
#define PIECES 4       // pieces of a line in a stage
#define STAGE (VISIT_TILE * PIECES * PIECE_BYTES)
#define SLAB_PIECES (VISIT_TILE * LINE_PIECES)
#define TRAIN_STAGES 3
#define QUERY_STAGES 2

// Returns the place of piece p of row r, if each row has `pieces` pieces.
uint place_of(uint pieces, uint r, uint p) {
  return r * pieces + (p ^ (r * pieces / 8 % pieces));
}

// Copies 32 dimensions, which are step `at` of a tile.
void copy_stage(uint to, global const uint4* tile, uint at, uint lid) {
  const uint row = lid / PIECES, piece = lid % PIECES;
  global const uint4* from =
      tile + (size_t)(at / 2) * SLAB_PIECES + place_of(LINE_PIECES, row, at % 2 * PIECES + piece);
  to += place_of(PIECES, row, piece) * PIECE_BYTES;
#pragma unroll
  for (uint i = 0; i < VISIT_TILE; i += GROUP / PIECES)
    copy_piece(to + i * PIECES * PIECE_BYTES, from + i * LINE_PIECES);
  END_BATCH();
}

// The operands that a warp multiplies at once: 16 dimensions.
typedef struct {
  uint a[ACROSS][4], b[ALONG / 2][4];
} Operands;

// Loads the operands of a step of 16 dimensions.
//   queries, train  addresses in local memory of what an item loads first; the other 16 dimensions of a stage
//                   are 32 bytes before or behind
ALL_INLINE void load_operands(Operands* operands, uint queries, uint train) {
#pragma unroll
  for (uint i = 0; i < ACROSS; ++i) LOAD_MATRICES(operands->a[i], queries + i * 16 * PIECES * PIECE_BYTES);
#pragma unroll
  for (uint j = 0; j < ALONG / 2; ++j) LOAD_MATRICES(operands->b[j], train + j * 16 * PIECES * PIECE_BYTES);
}

ALL_INLINE void multiply(float sums[ACROSS][4 * ALONG], const Operands* operands) {
#pragma unroll
  for (uint j = 0; j < ALONG; ++j)
#pragma unroll
    for (uint i = 0; i < ACROSS; ++i)
      MULTIPLY(sums[i] + 4 * j, operands->a[i], operands->b[j / 2][j % 2 * 2],
               operands->b[j / 2][j % 2 * 2 + 1]);
}

// Begins to copy step s of training rows, or of queries, to a stage. If there is no such step, the batch is
// empty. The macros use variables of the kernel.
#define COPY_TRAIN(s, stage)                                                                         \
  do {                                                                                               \
    if ((s) < total) {                                                                               \
      copy_stage(to_train + (stage)*STAGE,                                                           \
                 train + (size_t)min(tile_of_walk(visits, walk), last_tile) * a_block, t_step, lid); \
      if (++t_step == steps) {                                                                       \
        t_step = 0;                                                                                  \
        walk = walk_on(visits, walk);                                                                \
      }                                                                                              \
    } else {                                                                                         \
      END_BATCH();                                                                                   \
    }                                                                                                \
  } while (0)
#define COPY_QUERIES(s, stage)                                      \
  do {                                                              \
    if ((s) < total) {                                              \
      copy_stage(to_queries + (stage)*STAGE, queries, q_step, lid); \
      q_step = q_step + 1 == steps ? 0 : q_step + 1;                \
    } else {                                                        \
      END_BATCH();                                                  \
    }                                                               \
  } while (0)

// Work-group g handles queries from 128 (g % query_blocks) on, and part g / query_blocks of the tiles.
//   products  steps have 32 dimensions; a_block is the number of pieces of 128 rows
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_collect_fp16_tiles(
    global const uint4* restrict queries, global const uint4* restrict train, const Products products,
    uint4 visits, global const float* restrict low_of, ulong gap_first,
    global const float* restrict threshold_of, Place threshold_at, CANDIDATES) {
  const uint q_rows = products.q_rows, t_rows = products.t_rows, tiles = products.tiles,
             query_blocks = products.query_blocks, a_part = products.a_part, steps = products.steps,
             a_block = products.a_block, first_row = products.first_row;
  const float unscale = products.unscale;
  local uint4 train_stages[TRAIN_STAGES * STAGE / PIECE_BYTES] __attribute__((aligned(128)));
  local uint4 query_stages[QUERY_STAGES * STAGE / PIECE_BYTES] __attribute__((aligned(128)));
#ifndef SAMPLE
  local uint4 findings[GROUP / WARP * FOUND];
  uint count = 0;  // number of findings of this warp
#endif
  const uint lid = (uint)get_local_id(0), lane = lid % WARP, warp = lid / WARP;
  const uint query_block = (uint)get_group_id(0) % query_blocks;
  const uint begin = (uint)get_group_id(0) / query_blocks * a_part, end = min(begin + a_part, tiles);
  if (begin >= end) return;
  queries += products.queries_first + (size_t)query_block * a_block;
  train += products.train_first;
  const uint warp_q = warp / 2 * WARP_ROWS, warp_t = warp % 2 * WARP_ROWS;
  const uint q0 = query_block * VISIT_TILE + warp_q;
  float threshold[2 * ACROSS];  // NaN if there is no query
#pragma unroll
  for (uint i = 0; i < 2 * ACROSS; ++i) {
    const uint q = q0 + i * 8 + lane / 4;
    threshold[i] = q < q_rows ? threshold_of[threshold_at.first + q * threshold_at.stride] : NAN;
  }

  // Queries are copied two steps before they are multiplied, training rows three. Tiles behind the last row
  // have no quantized rows; another tile is multiplied instead, and nothing of it passes.
  const uint total = (end - begin) * steps, last_tile = (t_rows - 1) / VISIT_TILE;
  const uint to_train = local_address(train_stages), to_queries = local_address(query_stages);
  Walk walk = walk_from(visits, begin);
  uint t_step = 0, q_step = 0;
  COPY_QUERIES(0, 0);
  COPY_TRAIN(0, 0);
  COPY_QUERIES(1, 1);
  COPY_TRAIN(1, 1);
  COPY_TRAIN(2, 2);

  // The matrices of a: rows 0-7, rows 8-15, then both for the next 8 dimensions. The matrices of b: rows 0-7,
  // the same for the next 8 dimensions, then both for rows 8-15.
  const uint a_first = to_queries + place_of(PIECES, warp_q + lane % 16, lane / 16) * PIECE_BYTES;
  const uint b_first =
      to_train + place_of(PIECES, warp_t + lane % 8 + lane / 16 * 8, lane / 8 % 2) * PIECE_BYTES;
  const uint second = 2 * PIECE_BYTES;  // combined with addresses by exclusive or
  Operands now, next;
  uint s = 0, t_stage = 0, q_stage = 0;
  WAIT_FOR_BATCHES(3);
  barrier(CLK_LOCAL_MEM_FENCE);
  load_operands(&now, a_first, b_first);
#pragma unroll 1
  for (uint tile = begin; tile < end; ++tile) {
    global const float* low_here = low_of + (ulong)tile * VISIT_TILE + warp_t;
    float2 low[ALONG];
#pragma unroll
    for (uint j = 0; j < ALONG; ++j) low[j] = *(global const float2*)(low_here + 8 * j + lane % 4 * 2);
    float sums[ACROSS][4 * ALONG];
#pragma unroll
    for (uint i = 0; i < ACROSS; ++i)
#pragma unroll
      for (uint j = 0; j < 4 * ALONG; ++j) sums[i][j] = 0;

#pragma unroll 1
    for (uint step = 0; step < steps; ++step, ++s) {
      load_operands(&next, (a_first + q_stage * STAGE) ^ second, (b_first + t_stage * STAGE) ^ second);
      multiply(sums, &now);
      // The only batch that may be younger than the next stage has training rows of the stage after it.
      WAIT_FOR_BATCHES(1);
      barrier(CLK_LOCAL_MEM_FENCE);
      COPY_QUERIES(s + QUERY_STAGES, q_stage);
      COPY_TRAIN(s + TRAIN_STAGES, t_stage);
      q_stage ^= 1;
      t_stage = t_stage + 1 == TRAIN_STAGES ? 0 : t_stage + 1;
      load_operands(&now, a_first + q_stage * STAGE, b_first + t_stage * STAGE);
      multiply(sums, &next);
    }

#pragma unroll
    for (uint i = 0; i < ACROSS; ++i) {
      const bool near = test_matrices(sums[i], low, unscale, threshold[2 * i], threshold[2 * i + 1]);
#ifdef SAMPLE
      put_sample(sums[i], hidden(q0) + 16 * i + lane / 4, q_rows, tile * VISIT_TILE + warp_t,
                 low_here + gap_first, lane, CANDIDATES_HERE);
#else
      if (any_of_warp(near))
        count = append_matrices(
            sums[i], threshold[2 * i], threshold[2 * i + 1], hidden(q0) + 16 * i + lane / 4,
            tile * VISIT_TILE + warp_t, first_row + (uint)row_of_tile(visits, tile) + warp_t,
            findings + hidden(lid) / WARP * FOUND, count, low_of + gap_first, lane, CANDIDATES_HERE);
#endif
    }
  }
#ifndef SAMPLE
  append_findings(findings + warp * FOUND, count, lane, low_of + gap_first, CANDIDATES_HERE);
#endif
}
