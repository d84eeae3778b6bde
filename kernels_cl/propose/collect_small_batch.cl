// collect, fp16, int8 and int4, for up to 64 queries: streams the quantized training rows once. The twin
// of kernels_cuda/propose/collect_small_batch.cuh.
//
//   queries   [q, dims]   train [t, dims]   quantized rows, as prepare_fp16.cl or prepare_int8.cl writes
//                                           them; `first` is in bytes. With -D HALF_BYTES queries are of
//                                           bytes and training rows of half bytes
//   row_terms [4, q] and [4, t]             of both
//   threshold [q]
//   rows, counts, lows, highs             see candidates.cl
//   numbers, HALVES                       see product_error.cl
//   products  see visits.cl; tiles are chunks of 4 KiB of a slab of the quantized rows, over all tiles;
//             steps are slabs; query_blocks and a_part say how far it is from a chunk of a warp to its next:
//             so many blocks, and so many tiles of a visit
//   staged    local memory for [slabs, PARTS, ACROSS, TURNS, 32] pieces of queries, with -D RESIDENT
//
// Compiled with -D PIECES=n, pieces of 16 bytes per line (2, 4 or 8), -D ACROSS=n, matrices of 8 queries, -D
// BYTES for int8 and int4, -D HALF_BYTES=n for int4, the pieces of a line of queries, -D EXACT if its
// products are exact, so that E is 0, and -D SAMPLE if `rows` is a sample of bounds. A warp takes 4 KiB of
// the quantized rows at a time: the lines of 32 rows, or of 64 or 128 if lines are short. An item reads whole
// pieces of its rows, lane / 4 of every 8, straight into registers, and the next ones into the same registers
// as soon as these are multiplied. So 128 bytes per item are always being loaded, and nothing else has to be
// fast. Training rows are the rows of a matrix product; its columns are the queries, whose pieces are in
// local memory if they fit. The order of dimensions within a product does not matter if it is the same on
// both sides: half a piece, 4 halves or 8 bytes, is an item's part of one step of 16 or 32 dimensions. A half
// byte j becomes the byte 16 j where it is multiplied. `low` is computed here, from 12 bytes of terms per
// row, because writing it and reading it again would take longer. A warp gathers what passes in local memory,
// and appends it 32 at a time, one per item. Work: the quantized rows and three terms per row are read once;
// ACROSS products for 16 rows and 32 bytes of each. One barrier. Source: docs/certificate.md, sections 3 and
// 4.
#include "propose/small_batch_test.cl"
#include "propose/visits.cl"

#define GROUP 128
#define WARPS (GROUP / 32)
#define PARTS (PIECES == 8 ? 2 : 1)  // parts of a line; each is read by 4 items
#define GROUPS (8 / PIECES)          // groups of 32 rows in 4 KiB
#define ROWS (32 * GROUPS)           // rows in 4 KiB
#define CHUNKS (VISIT_TILE / ROWS)   // chunks of 4 KiB in a tile

// The type and the instruction of sums of products.
#ifdef BYTES
typedef int Accumulator;
#define MULTIPLY_STEP MULTIPLY_BYTES
#else
typedef float Accumulator;
#define MULTIPLY_STEP MULTIPLY
#endif

// How many pieces of a query a piece of a row meets.
#ifdef HALF_BYTES
#define TURNS 2
#else
#define TURNS 1
#endif

// What an item reads from a row.
#if PIECES == 2
typedef uint2 Piece;
#define SLAB (VISIT_TILE * PIECES * 2)
#else
typedef uint4 Piece;
#define SLAB (VISIT_TILE * PIECES)
#endif
#define CHUNK (SLAB / CHUNKS)

// Half bytes that up to 8 queries meet come a little sooner when the compiler chooses the order.
#if defined(HALF_BYTES) && ACROSS == 1
#define READ_ONCE(from) (*(from))
#elif PIECES == 2
#define READ_ONCE read_two_once
#else
#define READ_ONCE read_four_once
#endif

#ifdef RESIDENT
#define QUERY_PIECES local const Piece*
#else
#define QUERY_PIECES global const Piece*
#endif

// Returns where an item reads its piece of row 8 i + lane / 4.
uint place_in_lines(uint i, uint part, uint lane) {
  const uint row = 8 * i + lane / 4, turn = lane / 4 * PIECES / 8, at = lane % 4;
#if PIECES == 2
  return (row * PIECES + (at / 2 ^ turn)) * 2 + at % 2;
#else
  return row * PIECES + ((4 * part + at) ^ turn);
#endif
}

// Returns where the piece of the queries is that meets an item's piece of rows: of queries 8 j + lane / 4, in
// part `part` of all parts of a line. A line of half bytes has twice as many columns as one of bytes, or
// more, and the last may have no such piece: then it returns NO_PLACE.
//   turn  the first or the second of TURNS
#define NO_PLACE 0xFFFFFFFF

uint place_of_query(uint part, uint j, uint turn, uint lane, uint query_slabs) {
#ifdef HALF_BYTES
  const uint piece = 2 * (lane % 4) + turn;
  if (part >= query_slabs || piece >= HALF_BYTES) return NO_PLACE;
  return (part * VISIT_TILE + 8 * j + lane / 4) * HALF_BYTES + (piece ^ lane / 4 * HALF_BYTES / 8);
#else
  return part / PARTS * SLAB + place_in_lines(j, part % PARTS, lane);
#endif
}

// Multiplies an item's pieces of 8 rows, and of 8 others, with its pieces of the queries.
#ifdef HALF_BYTES
ALL_INLINE void multiply_words(Accumulator* sums, uint4 words, uint4 query) {
  const uint4 low = words << 4 & 0xF0F0F0F0u, high = words & 0xF0F0F0F0u;
  const uint first[4] = {low.s0, low.s1, low.s2, low.s3}, second[4] = {high.s0, high.s1, high.s2, high.s3};
  MULTIPLY_STEP(sums, first, query.s0, query.s1);
  MULTIPLY_STEP(sums, second, query.s2, query.s3);
}

ALL_INLINE void multiply_pieces(Accumulator* sums, Piece upper, Piece lower, const Piece* query) {
  multiply_words(sums, (uint4)(upper.s0, lower.s0, upper.s1, lower.s1), query[0]);
  multiply_words(sums, (uint4)(upper.s2, lower.s2, upper.s3, lower.s3), query[1]);
}
#else
ALL_INLINE void multiply_pieces(Accumulator* sums, Piece upper, Piece lower, const Piece* query) {
  const uint first[4] = {upper.s0, lower.s0, upper.s1, lower.s1};
  MULTIPLY_STEP(sums, first, query[0].s0, query[0].s1);
#if PIECES != 2
  const uint second[4] = {upper.s2, lower.s2, upper.s3, lower.s3};
  MULTIPLY_STEP(sums, second, query[0].s2, query[0].s3);
#endif
}
#endif

// Goes through the chunks of a warp, slab by slab. It stays at the last one. All chunks of a warp are the
// same part of their tiles, since the chunks of a tile divide WARPS.
typedef struct {
  ulong from;  // offset in the quantized rows, in units of Piece
  uint t0;     // first row
  uint slab, chunk;
  Walk walk;  // the tile of the chunk
} Cursor;

// Writes to a sample that a chunk has no rows.
void leave_out(uint chunk, uint q_rows, uint lane, CANDIDATES) {
  for (uint i = lane; i < q_rows * (ROWS / 16); i += 32)
    rows[lists.rows.first + i / (ROWS / 16) * lists.rows.stride + chunk * (ROWS / 16) + i % (ROWS / 16)] =
        NO_VALUE;
}

ALL_INLINE void skip(Cursor* at, uint4 visits, Walk step) {
  at->chunk += (uint)get_num_groups(0) * WARPS;
  at->walk = walk_by(visits, at->walk, step);
}

// Finds the first chunk, from at->chunk on, that contains rows.
ALL_INLINE bool seek(Cursor* at, uint4 visits, Walk step, uint t_rows, uint slabs, uint chunks, uint q_rows,
                     uint lane, CANDIDATES) {
  for (; at->chunk < chunks; skip(at, visits, step)) {
    const ulong tile = (ulong)at->walk.block * visits.x + at->walk.within,
                first = tile * VISIT_TILE + at->chunk % CHUNKS * ROWS;
    if (first >= t_rows) {
#ifdef SAMPLE
      leave_out(at->chunk, q_rows, lane, CANDIDATES_HERE);
#endif
      continue;
    }
    at->t0 = (uint)first;
    at->from = tile * slabs * SLAB + at->chunk % CHUNKS * CHUNK;
    return true;
  }
  return false;
}

ALL_INLINE bool advance(Cursor* at, uint4 visits, Walk step, uint t_rows, uint slabs, uint chunks,
                        uint q_rows, uint lane, CANDIDATES) {
  if (at->slab + 1 < slabs) {
    ++at->slab;
    at->from += SLAB;
    return true;
  }
  skip(at, visits, step);
  const bool more = seek(at, visits, step, t_rows, slabs, chunks, q_rows, lane, CANDIDATES_HERE);
  if (more) at->slab = 0;
  return more;
}

// Computes the terms of E that depend on the queries.
ALL_INLINE ErrorTerms terms_of_queries(global const float* query_terms, ulong stride, uint q_rows,
                                       ErrorNumbers numbers, uint lane) {
  ErrorTerms terms = {0, 0, 0, numbers.chain, numbers.under, numbers.gap_share};
  for (uint q = lane; q < q_rows; q += 32) {
    const float quantized = query_terms[QUANTIZED_NORM * stride + q];
    const float error = query_error(query_terms[RESIDUAL * stride + q], numbers.b, quantized);
    terms.norm = fmax(terms.norm, query_terms[NORM * stride + q]);
    terms.error = fmax(terms.error, error);
    terms.quantized_norm = fmax(terms.quantized_norm, quantized);
  }
  JOIN_WARP();
  terms.norm = largest_of_warp(terms.norm);
  terms.error = largest_of_warp(terms.error);
  terms.quantized_norm = largest_of_warp(terms.quantized_norm);
  return terms;
}

// Begins to load group s of 32 rows of a chunk, and the terms that `low` of each is computed from.
ALL_INLINE void load_rows(Piece rows_of[PARTS][4], global const Piece* from, uint s, uint lane) {
#pragma unroll
  for (uint part = 0; part < PARTS; ++part)
#pragma unroll
    for (uint i = 0; i < 4; ++i) rows_of[part][i] = READ_ONCE(from + place_in_lines(4 * s + i, part, lane));
}

// Adds the products of the queries with group s of 32 rows of a chunk to the sums, which start at 0 in the
// first slab. Each part of the rows is replaced by that of the next chunk once it is multiplied.
//   sums  [2][ACROSS][4]  [i][j][e] belongs to row 16 i + 8 (e / 2) + lane / 4 and query 8 j + 2 (lane % 4) +
//                         e % 2
//   next  the next chunk; behind the last, reading some of it again is cheaper than a test
ALL_INLINE void multiply_rows(Accumulator sums[2][ACROSS][4], Piece rows_of[PARTS][4], QUERY_PIECES queries,
                              uint slab, uint query_slabs, global const Piece* next, uint s, uint lane) {
  if (slab == 0)
#pragma unroll
    for (uint j = 0; j < ACROSS; ++j)
#pragma unroll
      for (uint e = 0; e < 4; ++e) sums[0][j][e] = sums[1][j][e] = 0;
#pragma unroll
  for (uint part = 0; part < PARTS; ++part) {
#pragma unroll
    for (uint j = 0; j < ACROSS; ++j) {
      const uint all = slab * PARTS + part;
      Piece query[TURNS];
#pragma unroll
      for (uint turn = 0; turn < TURNS; ++turn) {
#ifdef RESIDENT
        query[turn] = queries[((all * ACROSS + j) * TURNS + turn) * 32 + lane];
#else
        const uint place = place_of_query(all, j, turn, lane, query_slabs);
        query[turn] = place == NO_PLACE ? (Piece)(0) : queries[place];
#endif
      }
#pragma unroll
      for (uint i = 0; i < 2; ++i)
        multiply_pieces(sums[i][j], rows_of[part][2 * i], rows_of[part][2 * i + 1], query);
    }
#pragma unroll
    for (uint i = 0; i < 4; ++i) rows_of[part][i] = READ_ONCE(next + place_in_lines(4 * s + i, part, lane));
  }
}

#ifndef SAMPLE
// Finds those of 32 rows that pass the threshold, and appends findings when there are 32. All items of a warp
// call this. Before, `found` has `count` findings; returns how many it has afterwards.
//   v   [PAIRS]  values that are compared with the threshold
//   t0  the first of the rows
ALL_INLINE uint find(local uint4* found, uint count, const float4* v, const float* threshold, uint t0,
                     uint first_row, ErrorTerms terms, global const float* train_terms, ulong stride,
                     uint t_rows, uint lane, CANDIDATES) {
  Pending pending = 0;
#pragma unroll
  for (uint pair = 0; pair < PAIRS; ++pair) {
    const float4 four = v[pair];
    pending |= (Pending)((four.s0 <= threshold[pair] ? 1 : 0) | (four.s1 <= threshold[pair] ? 2 : 0) |
                         (four.s2 <= threshold[pair] ? 4 : 0) | (four.s3 <= threshold[pair] ? 8 : 0))
               << (4 * pair);
  }
  while (any_of_warp(pending != 0)) {
    const bool has = pending != 0;
    const uint at = 8 * sizeof(Pending) - 1 - (uint)clz(pending | 1), pair = at / 4;
    const uint votes = votes_of_warp(has);
    if (has) {
      const uint q = pair / 2 * 8 + lane % 4 * 2 + pair % 2, row = t0 + at % 4 * 8 + lane / 4;
      found[count + popcount(votes & ((1u << lane) - 1))] = (uint4)(q, row, as_uint(element_of(v, at)), 0);
    }
    pending &= ~((Pending)1 << at);
    count += popcount(votes);
    if (count < 32) continue;
    count -= 32;
    append_findings(found + count, 32, first_row, terms, train_terms, stride, t_rows, lane, CANDIDATES_HERE);
  }
  return count;
}
#endif

// Warp w of the grid handles chunks w, w + warps, ...
kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_collect_small_batch(
    global const Piece* restrict queries, global const Piece* restrict train, const Products products,
    uint4 visits, global const float* restrict query_terms, global const float* restrict train_terms,
    const TermPlaces terms_at, global const float* restrict threshold_of, Place threshold_at,
    const ErrorNumbers numbers, local Piece* restrict staged, CANDIDATES) {
  const uint q_rows = products.q_rows, t_rows = products.t_rows, chunks = products.tiles,
             slabs = PIECES == 8 ? products.steps : 1, first_row = products.first_row,
             query_slabs = products.a_block;
  const float unscale = products.unscale;
  const ulong stride = terms_at.train.stride;
  const uint lid = (uint)get_local_id(0), lane = lid % 32;
#ifndef SAMPLE
  local uint4 findings[WARPS * FOUND];
  local uint4* found = findings + lid / 32 * FOUND;
  uint count = 0;
#endif
  queries += products.queries_first / sizeof(Piece);
  train += products.train_first / sizeof(Piece);
  train_terms += terms_at.train.first;

  const uint first_chunk = (uint)get_group_id(0) * WARPS + lid / 32;
  const Walk step = {products.query_blocks, products.a_part};
  Cursor next = {0, 0, 0, first_chunk, walk_from(visits, first_chunk / CHUNKS)};
  bool more = seek(&next, visits, step, t_rows, slabs, chunks, q_rows, lane, CANDIDATES_HERE);
  Piece rows_of[GROUPS][PARTS][4];
  float3 row_terms[GROUPS];
  if (more) {
#pragma unroll
    for (uint s = 0; s < GROUPS; ++s) {
      load_rows(rows_of[s], train + next.from, s, lane);
      row_terms[s] = row_terms_of(train_terms, stride, (ulong)next.t0 + 32 * s + lane, t_rows);
    }
  }
  const ErrorTerms terms =
      terms_of_queries(query_terms + terms_at.queries.first, terms_at.queries.stride, q_rows, numbers, lane);
  float threshold[PAIRS];  // NaN if there is no query
#pragma unroll
  for (uint pair = 0; pair < PAIRS; ++pair) {
    const uint q = pair / 2 * 8 + lane % 4 * 2 + pair % 2;
    threshold[pair] = q < q_rows ? threshold_of[threshold_at.first + q * threshold_at.stride] : NAN;
  }

#ifdef RESIDENT
  for (uint i = lid; i < slabs * PARTS * ACROSS * TURNS * 32; i += GROUP) {
    const uint part = i / 32 / TURNS / ACROSS, j = i / 32 / TURNS % ACROSS;
    const uint place = place_of_query(part, j, i / 32 % TURNS, i % 32, query_slabs);
    staged[i] = place == NO_PLACE ? (Piece)(0) : queries[place];
  }
  barrier(CLK_LOCAL_MEM_FENCE);
#define PIECES_OF_QUERIES staged
#else
#define PIECES_OF_QUERIES queries
#endif

  Accumulator sums[2][ACROSS][4];
  while (more) {
    const uint t0 = next.t0, place = next.chunk * ROWS, slab = PIECES == 8 ? next.slab : 0;
    more = advance(&next, visits, step, t_rows, slabs, chunks, q_rows, lane, CANDIDATES_HERE);
#pragma unroll
    for (uint s = 0; s < GROUPS; ++s) {
      multiply_rows(sums, rows_of[s], PIECES_OF_QUERIES, slab, query_slabs, train + next.from, s, lane);
      if (slab + 1 != slabs) continue;

      const float3 own_terms = row_terms[s];  // the next terms are on their way before these are used
      row_terms[s] = row_terms_of(train_terms, stride, (ulong)next.t0 + 32 * s + lane, t_rows);
      const float low = low_of(terms, own_terms);
      const float4 each = spread(low, lane);
      float4 v[PAIRS];
      bool near = false;
#pragma unroll
      for (uint pair = 0; pair < PAIRS; ++pair) {
        const float4 products_of = {
            (float)sums[0][pair / 2][pair % 2], (float)sums[0][pair / 2][2 + pair % 2],
            (float)sums[1][pair / 2][pair % 2], (float)sums[1][pair / 2][2 + pair % 2]};
        v[pair] = fma((float4)(-unscale), products_of, each);
        near |= any(v[pair] <= (float4)(threshold[pair]));
      }
#ifdef SAMPLE
      const ulong t = (ulong)t0 + 32 * s + lane;
      const float4 gaps = spread(gap_of(terms, train_terms, stride, t, t_rows, low), lane);
      put_sample(v, gaps, q_rows, place + 32 * s, lane, CANDIDATES_HERE);
#else
      if (any_of_warp(near))
        count = find(found, count, v, threshold, t0 + 32 * s, first_row, terms, train_terms, stride, t_rows,
                     lane, CANDIDATES_HERE);
#endif
    }
  }
#ifndef SAMPLE
  append_findings(found, count, first_row, terms, train_terms, stride, t_rows, lane, CANDIDATES_HERE);
#endif
}
