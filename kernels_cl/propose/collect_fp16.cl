// collect, fp16 and int8: computes inner products on tensor cores and tests them at once; they are never
// written. For rows of few dimensions (collect_tiles.cl is for more).
//
//   queries   [q, dims]   train [t, dims]   quantized rows, as prepare_fp16.cl or prepare_int8.cl writes them
//   low       [places]    the values from which products are subtracted (collect_low.cl), `gap_first` floats
//                         before `gap`; for int8 `lift` follows
//   threshold [q]         stride in elements
//   rows, counts, lows, highs             see candidates.cl
//
// Compiled with -D LINE=n, 16-bit floats of a line (16, 32 or 64), -D STEPS=n, steps of 16 of these, -D
// ACROSS=n, matrices of 16 queries per warp, -D BYTES for int8, where two bytes replace each float, and -D
// SAMPLE if `rows` is a sample of bounds. ACROSS * STEPS is at most 16, so that the queries of a warp stay
// in 64 registers. A work-group of 8 warps handles 128 ACROSS queries and, one after another, tiles of 128
// training rows (visits.cl). These are copied to local memory in two stages, one of which is filled while
// the other is multiplied. Each warp takes all of them, 8 ALONG at a time. A row is kept if low - product
// is at most the threshold, which is so for about one in thousands. Sums of bytes begin with the lift of
// the row, so that one comparison is the test (lifted.cl); lifts stand in local memory as four sums of an
// item begin with them. Neighbouring groups share their training rows in the cache. Work: q * t * dims
// multiply-adds in steps of m16n8k16, or m16n8k32 for bytes, and two instructions per pair, or one at most
// for bytes. A training row is read once for 128 ACROSS queries, and from local memory once for 16 ACROSS:
// 128 bytes per step if ACROSS is 2. There is one barrier for every 16 KiB or less. Local memory: at most
// 38 KiB, and 8 KiB for findings (gather.cl). With 128 registers, two groups share a multiprocessor, and
// one multiplies while the other waits at a barrier. Source: docs/certificate.md; appending under a
// threshold: as in FaSTED (Curless, Gowanlock 2025).
#define ALONG (LINE == 16 || ACROSS == 1 || ACROSS * STEPS <= 8 ? 4 : 2)  // matrices of rows at a time
#include "propose/gather.cl"
#include "propose/visits.cl"

#define WARP 32
#define GROUP (8 * WARP)
#define PIECES (LINE / 8)  // pieces of 8 halves in a line
#define SLABS ((STEPS * 16 + LINE - 1) / LINE)
// Rows of a stage: of 32 bytes fewer than fit, since local memory has their lifts, too.
#define ROWS (SLABS > 2 ? 32 : LINE == 16 ? 256 : 8192 / (SLABS * LINE))
#define UNIT (ROWS < VISIT_TILE ? ROWS : VISIT_TILE)  // rows of a stage in one tile
#define UNITS_A_TILE (VISIT_TILE / UNIT)
#define UNITS (ROWS / UNIT)
#define UNIT_PIECES (UNIT * SLABS * PIECES)
#define STAGE (ROWS * SLABS * PIECES)
#define TILE_PIECES (VISIT_TILE * SLABS * PIECES)
#define LIMITS (ACROSS == 1 ? 4 : 2 * ACROSS)  // places for the limits of an item
#define NEXT (8 * ALONG)                       // training rows that a warp takes at a time
#ifdef BYTES
#define COLUMNS (STEPS * 32)
#define MULTIPLY_STEP MULTIPLY_BYTES
#else
#define COLUMNS (STEPS * 16)
#define MULTIPLY_STEP MULTIPLY
#endif

#ifdef LIFTED
#define BEGIN_SUMS(c, a, b0, b1, low) MULTIPLY_BYTES_FIRST(c, a, b0, b1, low)
#elif defined(BYTES)
#define BEGIN_SUMS(c, a, b0, b1, low) MULTIPLY_BYTES_FIRST(c, a, b0, b1, (int4)0)
#else
#define BEGIN_SUMS(c, a, b0, b1, low) MULTIPLY_FIRST(c, a, b0, b1)
#endif

// What is copied for two neighbouring rows: their lifts twice, with which the sums of an item with two
// queries begin; or `low`.
#ifdef LIFTED
typedef int4 LowOfPair;
#define LOAD_LOW LOAD_FOUR
#else
typedef float2 LowOfPair;
#define LOAD_LOW LOAD_TWO_FLOATS
#endif
#define LOW_STAGE (ROWS / 2 * sizeof(LowOfPair))

#ifndef SAMPLE
// Reads four limits from an address in local memory. They are read for each test, so that products have
// their registers.
ALL_INLINE void load_limits(Limit* to, uint address) {
  uint4 bits;
  LOAD_FOUR(bits, address);
#ifdef LIFTED
  to[0] = as_int(bits.x), to[1] = as_int(bits.y), to[2] = as_int(bits.z), to[3] = as_int(bits.w);
#else
  to[0] = as_float(bits.x), to[1] = as_float(bits.y), to[2] = as_float(bits.z), to[3] = as_float(bits.w);
#endif
}
#endif

// Returns the place of piece p of row r among lines.
uint place_of(uint r, uint p) {
  return r * PIECES + (p ^ (r * PIECES / 8 % PIECES));
}

// Loads the queries of a warp: rows q0 + 16 i + lane / 4 and q0 + 16 i + lane / 4 + 8, and of these halves 2
// (lane % 4) and 2 (lane % 4) + 1 of both pieces of each step.
ALL_INLINE void load_queries(uint a[ACROSS][STEPS][4], global const uint4* queries, uint q0, uint lane) {
#pragma unroll
  for (uint i = 0; i < ACROSS; ++i)
#pragma unroll
    for (uint step = 0; step < STEPS; ++step)
#pragma unroll
      for (uint e = 0; e < 4; ++e) {
        const uint q = q0 + 16 * i + e % 2 * 8 + lane / 4, piece = 2 * step + e / 2;
        global const uint4* slab =
            queries + (size_t)(q / VISIT_TILE) * TILE_PIECES + piece / PIECES * (VISIT_TILE * PIECES);
        a[i][step][e] = ((global const uint*)(slab + place_of(q % VISIT_TILE, piece % PIECES)))[lane % 4];
      }
}

// Multiplies the queries of a warp with 8 ALONG training rows.
//   train   address in local memory of the piece of slab 0 that an item loads first
//   low     the lifts that sums of bytes begin with, unless a sample is taken
ALL_INLINE void multiply(Accumulator sums[ACROSS][4 * ALONG], uint a[ACROSS][STEPS][4], const LowOfPair* low,
                         uint train) {
#if LINE == 16
  // Loads both pieces of two matrices of rows.
#pragma unroll
  for (uint j = 0; j < ALONG; j += 2) {
    uint b[4];
    LOAD_MATRICES(b, train + j * 8 * PIECES * PIECE_BYTES);
#pragma unroll
    for (uint of = 0; of < 2; ++of)
#pragma unroll
      for (uint i = 0; i < ACROSS; ++i)
        BEGIN_SUMS(sums[i] + 4 * (j + of), a[i][0], b[2 * of], b[2 * of + 1], low[j + of]);
  }
#else
  // Loads four pieces, which are two steps, of each matrix of rows.
#pragma unroll
  for (uint step = 0; step < STEPS; step += 2) {
    uint b[ALONG][4];
    const uint slab = step * 2 / PIECES * (UNIT * PIECES * PIECE_BYTES);
    const uint at = train ^ (step * 2 % PIECES * PIECE_BYTES);  // the line's other half
#pragma unroll
    for (uint j = 0; j < ALONG; ++j) LOAD_MATRICES(b[j], at + slab + j * 8 * PIECES * PIECE_BYTES);
#pragma unroll
    for (uint j = 0; j < ALONG; ++j)
#pragma unroll
      for (uint i = 0; i < ACROSS; ++i)
        if (step == 0)
          BEGIN_SUMS(sums[i] + 4 * j, a[i][0], b[j][0], b[j][1], low[j]);
        else
          MULTIPLY_STEP(sums[i] + 4 * j, a[i][step], b[j][0], b[j][1]);
#pragma unroll
    for (uint j = 0; j < ALONG; ++j)
#pragma unroll
      for (uint i = 0; i < ACROSS; ++i) MULTIPLY_STEP(sums[i] + 4 * j, a[i][step + 1], b[j][2], b[j][3]);
  }
#endif
}

#ifndef SAMPLE
// Tests the sums of an item with 8 ALONG training rows. Returns whether any passes.
//   low     of the rows; not read where sums began with lifts
//   limits  address in local memory of the limits of the item's queries, which become `limit`
//   near    whether any passes of each 16 queries of the warp
ALL_INLINE bool test_rows(Accumulator sums[ACROSS][4 * ALONG], const LowOfPair* low, float unscale,
                          uint limits, Limit* limit, bool* near) {
#pragma unroll
  for (uint i = 0; i < LIMITS; i += 4) load_limits(limit + i, limits + i * sizeof(Limit));
  bool any = false;
#pragma unroll
  for (uint i = 0; i < ACROSS; ++i) {
#ifdef LIFTED
    near[i] = test_lifted(sums[i], limit[2 * i], limit[2 * i + 1]);
#else
    near[i] = test_matrices(sums[i], low, unscale, limit[2 * i], limit[2 * i + 1]);
#endif
    any |= near[i];
  }
  return any;
}
#endif

// Copies the stage that begins with unit `unit` of `units`: lines of quantized rows, and `low` of each.
//   at   the tile of the unit; returns the tile of the next stage
ALL_INLINE Walk copy_stage(uint to, uint low_to, local uint* rows_to, global const uint4* train,
                           global const float* low, uint4 visits, Walk at, uint last_tile, uint unit,
                           uint units, uint lid) {
#pragma unroll
  for (uint i = 0; i < UNITS; ++i) {
    if (unit + i >= units) continue;
    // Tiles behind the last row have no quantized rows. Another tile is multiplied instead, and nothing of
    // it passes.
    const uint tile = tile_of_walk(visits, at), part = unit % UNITS_A_TILE;
    global const uint4* from = train + (size_t)min(tile, last_tile) * TILE_PIECES + part * (UNIT * PIECES);
    if (lid == 0) rows_to[i] = tile * VISIT_TILE + part * UNIT;
#pragma unroll
    for (uint piece = 0; piece < UNIT_PIECES; piece += GROUP)
      copy_piece(to + (i * UNIT_PIECES + piece + lid) * PIECE_BYTES,
                 from + piece / (UNIT * PIECES) * (VISIT_TILE * PIECES) + piece % (UNIT * PIECES) + lid);
    if ((unit + i + 1) % UNITS_A_TILE == 0) at = walk_on(visits, at);
  }
#ifdef LIFTED
#pragma unroll
  for (uint i = lid; i < ROWS; i += GROUP)
    if (i / UNIT + unit < units) copy_half_piece(low_to + i * 8, low + (ulong)unit * UNIT + i / 2 * 2);
#else
  if (lid < ROWS / 4 && lid / (UNIT / 4) + unit < units)
    copy_piece(low_to + lid * PIECE_BYTES, (global const uint4*)(low + (ulong)unit * UNIT) + lid);
#endif
  END_BATCH();
  return at;
}

// Work-group g handles queries from 128 ACROSS (g % query_blocks) on, and part g / query_blocks of the tiles.
// Groups have GROUP items; a kernel that says so would get more registers than its option allows.
kernel void kith_collect_fp16(global const uint4* restrict queries, global const uint4* restrict train,
                              const Products products, uint4 visits, global const float* restrict low_of,
                              ulong gap_first, global const float* restrict threshold_of, Place threshold_at,
                              CANDIDATES) {
  const uint q_rows = products.q_rows, t_rows = products.t_rows, tiles = products.tiles,
             query_blocks = products.query_blocks, a_part = products.a_part, first_row = products.first_row;
  local uint4 stages[2 * STAGE] __attribute__((aligned(128)));
  local LowOfPair low_stages[2 * ROWS / 2] __attribute__((aligned(128)));
  local uint row_stages[2 * UNITS];
#ifndef SAMPLE
  local Limit limits[GROUP / 4 * LIMITS] __attribute__((aligned(128)));  // four items have the same queries
  local uint4 findings[GROUP / WARP * FOUND];
  Gathered gathered = {0, 0, 0};
#endif
  const uint lid = (uint)get_local_id(0), lane = lid % WARP;
  const uint begin = (uint)get_group_id(0) / query_blocks * a_part, end = min(begin + a_part, tiles);
  if (begin >= end) return;
  const uint q0 = ((uint)get_group_id(0) % query_blocks * (GROUP / WARP) + lid / WARP) * (16 * ACROSS);
  const bool idle = q0 >= q_rows;  // such a warp only copies
  queries += products.queries_first;
  train += products.train_first;
  const Tested tested = {
      low_of + (ulong)begin * VISIT_TILE, gap_first, threshold_of, threshold_at, q_rows, products.unscale};

  const uint units = (end - begin) * UNITS_A_TILE, last_tile = (t_rows - 1) / VISIT_TILE;
  const uint stage = local_address(stages), low_stage = local_address((local const uint4*)low_stages);
  Walk walk = copy_stage(stage, low_stage, row_stages, train, lows_of(tested), visits,
                         walk_from(visits, begin), last_tile, 0, units, lid);

  uint a[ACROSS][STEPS][4];
  if (!idle) load_queries(a, queries, q0, lane);
#ifndef SAMPLE
  for (uint i = lid % 4; i < 2 * ACROSS; i += 4)
    limits[lid / 4 * LIMITS + i] = limit_of(tested, q0 + i * 8 + lane / 4, COLUMNS);
#endif
  // An item loads row lane % 8 of four matrices: four pieces of a row, or two of 8 rows on.
  const uint first =
      PIECES == 2 ? place_of(lane % 8 + lane / 16 * 8, lane / 8 % 2) : place_of(lane % 8, lane / 8);

#ifndef SAMPLE
  const uint limits_here = local_address((local const uint4*)limits) + lid / 4 * LIMITS * sizeof(Limit);
#endif
  uint side = 0;
#pragma unroll 1
  for (uint unit = 0; unit < units; unit += UNITS) {
    WAIT_FOR_BATCHES(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint other = side ^ 1;
    if (unit + UNITS < units)
      walk = copy_stage(stage + other * (STAGE * PIECE_BYTES), low_stage + other * LOW_STAGE,
                        row_stages + other * UNITS, train, lows_of(tested), visits, walk, last_tile,
                        unit + UNITS, units, lid);
    uint here = stage + (side * STAGE + first) * PIECE_BYTES;
    uint low_here = low_stage + side * LOW_STAGE + lane % 4 * sizeof(LowOfPair);
    const uint rows_here = idle ? 0 : min((uint)ROWS, (units - unit) * UNIT);
    uint row = 0;
    while (row < rows_here) {
      Accumulator sums[ACROSS][4 * ALONG];
      LowOfPair low[ALONG];
#pragma unroll
      for (uint j = 0; j < ALONG; ++j) LOAD_LOW(low[j], low_here + 4 * j * sizeof(LowOfPair));
      multiply(sums, a, low, here);
      const uint place = unit * UNIT + row;
#ifdef SAMPLE
      const uint q = hidden(q0) + lane / 4;
#pragma unroll
      for (uint i = 0; i < ACROSS; ++i)
        put_sample(sums[i], low, tested.unscale, q + 16 * i, q_rows, begin * VISIT_TILE + place,
                   tested.low + gap_first + place, lane, CANDIDATES_HERE);
#else
      Limit limit[LIMITS];
      bool near[ACROSS];
      const bool any = test_rows(sums, low, tested.unscale, limits_here, limit, near);
      if (any_of_warp(any)) {
        const uint item = hidden(lid), q = hidden(q0) + item % WARP / 4;
        const uint t0 = row_stages[side * UNITS + row / UNIT] + row % UNIT;
        local uint4* found = findings + item / WARP * FOUND;
#pragma unroll
        for (uint i = 0; i < ACROSS; ++i)
          if (any_of_warp(near[i]))
            gather_matrices(sums[i], limit[2 * i], limit[2 * i + 1], q + 16 * i, place, first_row + t0, found,
                            &gathered, item % WARP, tested, CANDIDATES_HERE);
        // The same rows are multiplied again, rather than sums kept until there is room for all findings.
        if (!end_round(found, &gathered, item % WARP, tested, CANDIDATES_HERE)) continue;
      }
#endif
      row += NEXT;
      here += NEXT * PIECES * PIECE_BYTES;
      low_here += NEXT / 2 * sizeof(LowOfPair);
    }
    side = other;
  }
#ifndef SAMPLE
  append_gathered(findings + lid / WARP * FOUND, gathered.count, lane, tested, CANDIDATES_HERE);
#endif
}
