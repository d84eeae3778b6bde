// collect, fp16, for few dimensions: as collect_fp16.cl, but the test is part of the product
// (fused_test.cl). Half an instruction per pair is left: the signs of three sums are combined at a time. The
// twin of kernels_cuda/propose/collect_fused_test.cu.
//
//   queries  [q, dims]  quantized rows of 16-bit floats, as prepare_fp16.cl writes them
//   lines    [places]   training rows, and with them numbers of places and queries: see fused_test_rows.cl
//   rows, counts, lows, highs             see candidates.cl
//
// Compiled with -D PIECES=n and -D STEPS=n, like fused_test_rows.cl. A work-group of 8 warps handles 256
// queries, 32 per warp, which stay in registers with their thresholds, and, one after another, runs of tiles
// of 128 rows. These are copied to local memory in two stages, one of which is filled while the other is
// multiplied. A warp multiplies 32 rows at a time, which are 32 sums per item. Warps wait for each other once
// per run.
// Work: 16 or 32 multiply-adds per pair, in steps of m16n8k16. Local memory: 40 KiB. With up to 96
// registers two groups share a multiprocessor. Source: docs/certificate.md, section 4.
#include "bound/bounds.cl"
#include "common/tensor.cl"
#include "common/warp.cl"
#include "propose/candidates.cl"
#include "propose/visits.cl"

#define WARP 32
#define GROUP (8 * WARP)
#define QUERIES 32  // queries of a warp
#define ROWS 32     // rows that a warp takes at a time
#define FOUND 64    // number of findings that a warp has room for until they are appended
#define LINE_PIECES (2 * STEPS)
#define TILE_PIECES (VISIT_TILE * LINE_PIECES)
#define RUN_TILES (4 / STEPS)
#define RUN_PIECES (RUN_TILES * TILE_PIECES)

// Returns the place of piece p of row r of a tile, if each row has `pieces` pieces.
uint place_of(uint pieces, uint r, uint p) {
  return r * pieces + (p ^ (r * pieces / 8 % pieces));
}

// Loads the queries of a warp: rows q0 + 16 s + lane / 4 and q0 + 16 s + lane / 4 + 8, and of these halves 2
// (lane % 4) and 2 (lane % 4) + 1 of both pieces of each step. The last columns become -K and the threshold,
// which is -infinity if there is no query.
ALL_INLINE void load_queries(uint a[2][STEPS][4], global const uint* queries, global const uint* fused_test,
                             uint q0, uint q_rows, uint lane) {
#pragma unroll
  for (uint i = 0; i < 4; ++i) {
    const uint q = q0 + 8 * i + lane / 4;
    const bool some = q < q_rows;
    global const uint* tile = queries + (size_t)(q / VISIT_TILE) * (VISIT_TILE * PIECES * 4);
#pragma unroll
    for (uint p = 0; p < LINE_PIECES; ++p)
      a[i / 2][p / 2][i % 2 + p % 2 * 2] =
          some && p < PIECES ? tile[place_of(PIECES, q % VISIT_TILE, p) * 4 + lane % 4] : 0;
    if (lane % 4 == 2) a[i / 2][STEPS - 1][i % 2 + 2] = 0xF800F800u;                     // -K, twice
    if (lane % 4 == 3) a[i / 2][STEPS - 1][i % 2 + 2] = some ? fused_test[q] : 0xFC00u;  // -infinity
  }
}

// Computes the sums of 32 queries by 32 rows: sums[8 j + 4 s + e] belongs to query 16 s + lane / 4 (plus 8
// for e >= 2) and row 8 j + 2 (lane % 4) + e % 2.
//   at    [STEPS]  addresses in local memory of what an item loads first
//   rows  offset of the rows from these, in bytes
ALL_INLINE void multiply(float sums[32], uint a[2][STEPS][4], const uint at[STEPS], uint rows) {
#pragma unroll
  for (uint step = 0; step < STEPS; ++step)
#pragma unroll
    for (uint second = 0; second < 2; ++second) {
      uint b[4];
      LOAD_MATRICES(b, at[step] + (rows + second * 16 * LINE_PIECES * PIECE_BYTES));
#pragma unroll
      for (uint of = 0; of < 4; ++of) {
        float* c = sums + 16 * second + 4 * of;
        if (step == 0)
          MULTIPLY_FIRST(c, a[of % 2][0], b[of / 2 * 2], b[of / 2 * 2 + 1]);
        else
          MULTIPLY(c, a[of % 2][step], b[of / 2 * 2], b[of / 2 * 2 + 1]);
      }
    }
}

// Returns a number whose first bit is set if all sums are negative.
ALL_INLINE uint join_signs(const float sums[32]) {
  uint joined = ~0u;
#pragma unroll
  for (uint i = 0; i < 32; i += 4) {
    const uint three = and_of_three(as_uint(sums[i]), as_uint(sums[i + 1]), as_uint(sums[i + 2]));
    joined = and_of_three(joined, three, as_uint(sums[i + 3]));
  }
  return joined;
}

// Keeps the half of the first 2 n elements that has element `at`. Every element is read for any `at`, so that
// compilers keep elements in registers.
#define HALVE(n)                                \
  for (uint i = 0; i < n; ++i) {                \
    const uint upper = 0u - (at / n & 1u);      \
    left[i] ^= (left[i] ^ left[i + n]) & upper; \
  }

// Returns element `at` of 32 registers.
ALL_INLINE float element_of(const float v[32], uint at) {
  uint left[32];
#pragma unroll
  for (uint i = 0; i < 32; ++i) left[i] = as_uint(v[i]);
#pragma unroll
  HALVE(16)
#pragma unroll
  HALVE(8)
#pragma unroll
  HALVE(4)
#pragma unroll
  HALVE(2)
#pragma unroll
  HALVE(1)
  return as_float(left[0]);
}

// Appends up to 32 findings, one per item. All items of a warp call this.
//   found        query, place, bits of the sum
//   gap          [places]  with -D BOUNDS: the distance between the bounds
//   base, slack  [q]       base - sum is a lower bound; slack is added to the gap
ALL_INLINE void append(local const uint4* found, uint many, uint lane, float unscale, uint4 visits,
                       uint first_row, global const float* gap, global const float* base,
                       global const float* slack, CANDIDATES) {
  JOIN_WARP();
  if (lane < many) {
    const uint4 one = found[lane];
    const ulong q = one.x;
    const uint place = one.y, at = atomic_add(COUNT_OF(q), 1u);
    const uint row = first_row + (uint)row_of_tile(visits, place / VISIT_TILE) + place % VISIT_TILE;
    const float v = -next_up(-fma(-unscale, as_float(one.z), base[q]));
    if (at < lists.capacity) PUT_CANDIDATE(q, at, row, v, (gap[place] + slack[q]) * (1.0f + 0x1p-20f));
  }
  JOIN_WARP();
}

// Finds what passes of 32 rows, the first of which is at `place`, and appends findings when there are 32, so
// that a warp waits for places in lists once for 32 candidates. Before, `found` has `count` findings; returns
// how many it has afterwards.
ALL_INLINE uint find(local uint4* found, uint count, const float sums[32], uint q0, uint place, uint lane,
                     float unscale, uint4 visits, uint first_row, global const float* gap,
                     global const float* base, global const float* slack, CANDIDATES) {
  uint negative = 0;  // bit 31 - i belongs to sum i
#pragma unroll
  for (uint i = 0; i < 32; ++i) negative = negative << 1 | as_uint(sums[i]) >> 31;
  uint pending = ~negative;
  while (any_of_warp(pending != 0)) {
    const uint i = clz(pending);
    const float sum = element_of(sums, i);
    const bool has = pending != 0 && sum >= 0;
    const uint votes = votes_of_warp(has);
    if (has) {
      const uint4 one = {q0 + i / 2 % 4 * 8 + lane / 4, place + i / 8 * 8 + lane % 4 * 2 + i % 2,
                         as_uint(sum), 0};
      found[count + popcount(votes & ((1u << lane) - 1))] = one;
    }
    pending &= ~(0x80000000u >> i % 32);
    count += popcount(votes);
    if (count < 32) continue;
    count -= 32;
    append(found + count, 32, lane, unscale, visits, first_row, gap, base, slack, CANDIDATES_HERE);
  }
  return count;
}

// Copies a run of `count` tiles.
ALL_INLINE void copy_run(uint to, global const uint4* from, uint count, uint lid) {
#pragma unroll
  for (uint i = 0; i < RUN_PIECES; i += GROUP)
    if (i / TILE_PIECES < count) copy_piece(to + (i + lid) * PIECE_BYTES, from + i + lid);
  END_BATCH();
}

// Work-group g handles queries from 256 (g % query_blocks) on, and part g / query_blocks of the tiles.
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_collect_fp16_fused_test(
    global const uint4* restrict queries, const Products products, uint4 visits,
    global const uint4* restrict lines, ulong gap_first, ulong fused_test_first, CANDIDATES) {
  const uint q_rows = products.q_rows, tiles = products.tiles, query_blocks = products.query_blocks,
             a_part = products.a_part, first_row = products.first_row;
  const float unscale = products.unscale;
  local uint4 stages[2 * RUN_PIECES] __attribute__((aligned(128)));
  local uint4 findings[GROUP / WARP * FOUND] __attribute__((aligned(128)));
  const uint lid = (uint)get_local_id(0), lane = lid % WARP, warp = lid / WARP;
  const uint begin = (uint)get_group_id(0) / query_blocks * a_part, end = min(begin + a_part, tiles);
  if (begin >= end) return;
  const uint q0 = ((uint)get_group_id(0) % query_blocks * (GROUP / WARP) + warp) * QUERIES;
  const bool idle = q0 >= q_rows;  // such a warp only copies
  global const uint4* from = lines + (size_t)begin * TILE_PIECES;
  const uint stage = local_address(stages);
  copy_run(stage, from, end - begin, lid);

  global const uint* fused_test = (global const uint*)lines + fused_test_first;
  global const float *gap = (global const float*)lines + gap_first,
                     *base = (global const float*)fused_test + q_rows, *slack = base + q_rows;
  uint a[2][STEPS][4];
  load_queries(a, (global const uint*)(queries + products.queries_first), fused_test, q0, q_rows, lane);
  // The items address rows 0-7, the same rows 8 columns on, rows 8-15, and these 8 columns on.
  const uint first = stage + place_of(LINE_PIECES, lane % 8 + lane / 16 * 8, lane / 8 % 2) * PIECE_BYTES;
  local uint4* found = findings + warp * FOUND;
  uint count = 0, side = 0;
#pragma unroll 1
  for (uint tile = begin; tile < end; tile += RUN_TILES) {
    WAIT_FOR_BATCHES(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    from += RUN_PIECES;
    if (tile + RUN_TILES < end)
      copy_run(stage + (side ^ 1) * (RUN_PIECES * PIECE_BYTES), from, end - tile - RUN_TILES, lid);
    const uint tiles_here = idle ? 0 : min((uint)RUN_TILES, end - tile);
    uint at[STEPS];
#pragma unroll
    for (uint step = 0; step < STEPS; ++step)
      at[step] = (first + side * (RUN_PIECES * PIECE_BYTES)) ^ (step * 2 * PIECE_BYTES);
#pragma unroll 1
    for (uint i = 0; i < tiles_here; ++i) {
#pragma unroll
      for (uint row = 0; row < VISIT_TILE; row += ROWS) {
        float sums[32];
        multiply(sums, a, at, row * (LINE_PIECES * PIECE_BYTES));
        if (any_first_clear(join_signs(sums)))
          count = find(found, count, sums, hidden(q0), hidden(tile + i) * VISIT_TILE + row, lane, unscale,
                       visits, first_row, gap, base, slack, CANDIDATES_HERE);
      }
#pragma unroll
      for (uint step = 0; step < STEPS; ++step) at[step] += TILE_PIECES * PIECE_BYTES;
    }
    side ^= 1;
  }
  append(found, count, lane, unscale, visits, first_row, gap, base, slack, CANDIDATES_HERE);
}
