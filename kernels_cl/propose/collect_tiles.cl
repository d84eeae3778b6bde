// collect, fp16 and int8: as collect_fp16.cl, for rows of any number of dimensions above 32; and int8 for all
// rows on devices without tensor cores (-D ITEMS).
//
//   queries   [q, dims]   train [t, dims]   quantized rows, as prepare_fp16.cl or prepare_int8.cl writes them
//   low       [places]    the values from which products are subtracted (collect_low.cl), `gap_first` floats
//                         before `gap`; for int8 `lift` follows
//   threshold [q]         stride in elements
//   rows, counts, lows, highs             see candidates.cl
//
// Compiled with -D BYTES for int8, -D SAMPLE if `rows` is a sample of bounds, and -D LINE_PIECES=n, pieces
// of 16 bytes in a line (8, or with ITEMS also 2 or 4). A work-group of 4 warps handles 128 queries and,
// one after another, tiles of 128 training rows (visits.cl). Each warp takes 64 by 64 of these, which are
// 128 sums per item (fragments.cl). Both sides are copied to local memory in stages of 64 bytes, half a
// line of each row. There are three stages of training rows, and two of queries, which are more often in
// the cache. A warp loads its next operands while it multiplies, so that a stage can be overwritten before
// its products are complete. A row is kept if low - product is at most the threshold, which is so for
// about one in thousands. Sums of bytes are lifted and compared as whole numbers first (lifted.cl). Work:
// q * t * dims multiply-adds in steps of m16n8k16, or m16n8k32 for bytes, and two instructions per pair.
// Each row is read once for 128 rows of the other side, and from local memory once for 64: 128 bytes per
// step. There is one barrier for every 64 bytes. Local memory: 40 KiB, and 4 KiB for findings
// (append_sums.cl), of the 48 KiB that exist. With up to 255 registers, two groups share a multiprocessor.
// With ITEMS a copy is complete when it is made, so that two stages of each side, at most 32 KiB, are
// enough. Source: docs/certificate.md; appending under a threshold: as in FaSTED (Curless,
// Gowanlock 2025).
// No twin in kernels_cuda: collect_fp16.cu and collect_hopper.cu are for rows of any number of dimensions.
#define ALONG 8  // matrices of 8 training rows per warp
#include "propose/append_sums.cl"
#include "propose/fragments.cl"
#include "propose/visits.cl"

#define WARP 32
#define GROUP (4 * WARP)
#define STAGES_A_LINE (LINE_PIECES / PIECES)
#define STAGE (VISIT_TILE * PIECES * PIECE_STEP)
#define STAGE_PIECES (VISIT_TILE * PIECES)
#define SLAB_PIECES (VISIT_TILE * LINE_PIECES)
#define QUERY_STAGES 2
#ifdef ITEMS
#define TRAIN_STAGES 2
#else
#define TRAIN_STAGES 3
#endif

// Copies step `at` of a tile, which is one stage of each row.
void copy_stage(LocalPieces to, global const uint4* tile, uint at, uint lid) {
  const uint row = lid / PIECES, piece = lid % PIECES;
  global const uint4* from = tile + (size_t)(at / STAGES_A_LINE) * SLAB_PIECES +
                             place_of(LINE_PIECES, row, at % STAGES_A_LINE * PIECES + piece);
  to += place_of(PIECES, row, piece) * PIECE_STEP;
#pragma unroll
  for (uint i = 0; i < VISIT_TILE; i += GROUP / PIECES)
    copy_piece(to + i * PIECES * PIECE_STEP, from + i * LINE_PIECES);
  END_BATCH();
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

#ifdef LIFTED
// Returns whether any sum of an item reaches its limit once it is lifted.
//   v    [ALONG, 4]
//   low  [ALONG]     lifts of rows 8 j + 2 (lane % 4) and one more
ALL_INLINE bool test_before_lifts(const int* v, const int2* low, int limit, int limit_of_second) {
  // There are two maxima for each query, so that no comparison waits for the one before.
  int most[4] = {v[0] + low[0].x, v[1] + low[0].y, v[2] + low[0].x, v[3] + low[0].y};
#pragma unroll
  for (uint i = 4; i < 4 * ALONG; ++i)
    most[i % 4] = max(most[i % 4], v[i] + (i & 1 ? low[i / 4].y : low[i / 4].x));
  return (max(most[0], most[1]) >= limit) | (max(most[2], most[3]) >= limit_of_second);
}

ALL_INLINE void add_lifts(int* v, const int2* low) {
#pragma unroll
  for (uint i = 0; i < 4 * ALONG; ++i) v[i] += i & 1 ? low[i / 4].y : low[i / 4].x;
}
#endif

// Work-group g handles queries from 128 (g % query_blocks) on, and part g / query_blocks of the tiles.
//   products  steps have 64 bytes; a_block is the number of pieces of 128 rows
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_collect_tiles(
    global const uint4* restrict queries, global const uint4* restrict train, const Products products,
    uint4 visits, global const float* restrict low_of, ulong gap_first,
    global const float* restrict threshold_of, Place threshold_at, CANDIDATES) {
  const uint q_rows = products.q_rows, t_rows = products.t_rows, tiles = products.tiles,
             query_blocks = products.query_blocks, a_part = products.a_part, steps = products.steps,
             a_block = products.a_block, first_row = products.first_row;
  local uint4 train_stages[TRAIN_STAGES * STAGE_PIECES] __attribute__((aligned(128)));
  local uint4 query_stages[QUERY_STAGES * STAGE_PIECES] __attribute__((aligned(128)));
#if !defined(SAMPLE) && !defined(ITEMS)
  local uint4 findings[GROUP / WARP * FOUND];
#define FINDINGS_OF_WARP (findings + hidden(lid) / WARP * FOUND)
#else
#define FINDINGS_OF_WARP 0
#endif
  uint count = 0;  // number of findings of this warp
  const uint lid = (uint)get_local_id(0), lane = lid % WARP, warp = lid / WARP;
  const uint query_block = (uint)get_group_id(0) % query_blocks;
  const uint begin = (uint)get_group_id(0) / query_blocks * a_part, end = min(begin + a_part, tiles);
  if (begin >= end) return;
  queries += products.queries_first + (size_t)query_block * a_block;
  train += products.train_first;
  const uint warp_q = warp / 2 * WARP_ROWS, warp_t = warp % 2 * WARP_ROWS;
  const uint q0 = query_block * VISIT_TILE + warp_q;
  const Tested tested = {low_of, gap_first, threshold_of, threshold_at, q_rows, products.unscale};
  Limit limit[2 * ACROSS];
#pragma unroll
  for (uint i = 0; i < 2 * ACROSS; ++i)
    limit[i] = limit_of(tested, q0 + i * 8 + lane / 4, steps * (PIECES * 16));

  // Queries are copied two steps before they are multiplied, training rows TRAIN_STAGES steps. Tiles behind
  // the last row have no quantized rows; another tile is multiplied instead, and nothing of it passes.
  const uint total = (end - begin) * steps, last_tile = (t_rows - 1) / VISIT_TILE;
  const LocalPieces to_train = local_pieces(train_stages), to_queries = local_pieces(query_stages);
  Walk walk = walk_from(visits, begin);
  uint t_step = 0, q_step = 0;
  COPY_QUERIES(0, 0);
  COPY_TRAIN(0, 0);
  COPY_QUERIES(1, 1);
  COPY_TRAIN(1, 1);
#if TRAIN_STAGES > 2
  COPY_TRAIN(2, 2);
#endif

  const LocalPieces a_first = first_queries(to_queries, warp_q, lane),
                    b_first = first_rows(to_train, warp_t, lane);
  Fragments fragments;
  uint s = 0, t_stage = 0, q_stage = 0;
  WAIT_FOR_BATCHES(3);
  barrier(CLK_LOCAL_MEM_FENCE);
  begin_fragments(&fragments, a_first, b_first);
#pragma unroll 1
  for (uint tile = begin; tile < end; ++tile) {
    const ulong place = (ulong)tile * VISIT_TILE + warp_t;
    Low low[ALONG];
#pragma unroll
    for (uint j = 0; j < ALONG; ++j)
      low[j] = *(global const Low*)(lows_of(tested) + place + 8 * j + lane % 4 * 2);
    Accumulator sums[ACROSS][4 * ALONG];
#pragma unroll
    for (uint i = 0; i < ACROSS; ++i)
#pragma unroll
      for (uint j = 0; j < 4 * ALONG; ++j) sums[i][j] = 0;

#pragma unroll 1
    for (uint step = 0; step < steps; ++step, ++s) {
      multiply_stage(sums, &fragments, a_first + q_stage * STAGE, b_first + t_stage * STAGE, lane);
      // The only batch that may be younger than the next stage has training rows of the stage after it.
      WAIT_FOR_BATCHES(1);
      barrier(CLK_LOCAL_MEM_FENCE);
      COPY_QUERIES(s + QUERY_STAGES, q_stage);
      COPY_TRAIN(s + TRAIN_STAGES, t_stage);
      q_stage ^= 1;
      t_stage = t_stage + 1 == TRAIN_STAGES ? 0 : t_stage + 1;
      multiply_rest(sums, &fragments, a_first + q_stage * STAGE, b_first + t_stage * STAGE);
    }

#pragma unroll
    for (uint i = 0; i < ACROSS; ++i) {
#ifdef SAMPLE
      put_sample(sums[i], low, tested.unscale, hidden(q0) + 16 * i + lane / 4, q_rows, (uint)place,
                 low_of + gap_first + place, lane, CANDIDATES_HERE);
#else
#ifdef LIFTED
      const bool near = test_before_lifts(sums[i], low, limit[2 * i], limit[2 * i + 1]);
#else
      const bool near = test_matrices(sums[i], low, tested.unscale, limit[2 * i], limit[2 * i + 1]);
#endif
      if (!any_of_warp(near)) continue;
#ifdef LIFTED
      add_lifts(sums[i], low);
#endif
      count = append_matrices(sums[i], limit[2 * i], limit[2 * i + 1], hidden(q0) + 16 * i + lane / 4,
                              (uint)place, first_row + (uint)row_of_tile(visits, tile) + warp_t,
                              FINDINGS_OF_WARP, count, lane, tested, CANDIDATES_HERE);
#endif
    }
  }
#if !defined(SAMPLE) && !defined(ITEMS)
  append_findings(findings + warp * FOUND, count, lane, tested, CANDIDATES_HERE);
#endif
}
