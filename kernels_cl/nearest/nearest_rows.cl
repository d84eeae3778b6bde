// nearest, for few queries (GPUs): computes distances and selects in one step.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, lists * k]   keys, ascending in each list, padded with NO_KEY
//
// Work-group (g, p) of GROUP items computes the distances of the PASS queries of pass p from the rows of
// list g. In each step an item takes WIDTH (4 or 2) neighbouring rows; with 4 rows, 8 items read one
// dimension of a block as one line of 128 bytes. With a single query an item takes PIECES times as many rows,
// GROUP * WIDTH apart; if these are all rows of the list, items wait for memory only once. With -D STAGED
// queries are copied to local memory, otherwise they are read from global memory; every item reads the same
// ones. PASS divides 32. Each query has a shortlist for candidates (shortlist.cl). An item that finds the
// buffer full waits for the merge and tries again. The first rows give a first bound, so that often the
// buffer never fills, and the result is its keys, ordered by counting. Local memory: PASS * (list_size +
// capacity) keys, 2 * PASS * parts numbers, and with -D STAGED PASS * dims floats.
// Work: q * t * dims multiply-adds; each pass reads the training rows once.
#include "common/metric.cl"
#include "common/shortlist.cl"
#include "kith/spi/kernel_limits.def"

#define BLOCK KITH_ROWS_A_BLOCK
#define EACH (WIDTH * PIECES)        // rows per item
#define AHEAD (PIECES == 1 ? 8 : 2)  // dimensions of a row that are loaded ahead
// Row e of an item, counted from its first row; and dimension d of the piece whose dimension 0 is at `row`.
#define ROW_OF(e) ((e) / WIDTH * (GROUP * WIDTH) + (e) % WIDTH)
#define PIECE_OF(row, d) (*(global const Neighbours*)((row) + (size_t)(d)*BLOCK))

#if STAGED
#define QUERIES local
#define PITCH PASS  // floats from one dimension to the next
#else
#define QUERIES global
#define PITCH BLOCK
#endif

#if WIDTH == 4
typedef float4 Neighbours;
#else
typedef float2 Neighbours;
#endif

// Accumulates one dimension of a piece of an item's rows.
void accumulate_dimension(QUERIES const float* restrict query, Neighbours b, uint piece,
                          float acc[PASS][EACH]) {
  float a[PASS];
#if PASS >= 4
#pragma unroll
  for (uint i = 0; i < PASS; i += 4) {
    const float4 four = *(QUERIES const float4*)(query + i);
    a[i] = four.x;
    a[i + 1] = four.y;
    a[i + 2] = four.z;
    a[i + 3] = four.w;
  }
#else
#pragma unroll
  for (uint i = 0; i < PASS; ++i) a[i] = query[i];
#endif
#pragma unroll
  for (uint i = 0; i < PASS; ++i) {
    acc[i][piece * WIDTH] = chain_next(acc[i][piece * WIDTH], a[i], b.x);
    acc[i][piece * WIDTH + 1] = chain_next(acc[i][piece * WIDTH + 1], a[i], b.y);
#if WIDTH == 4
    acc[i][piece * WIDTH + 2] = chain_next(acc[i][piece * WIDTH + 2], a[i], b.z);
    acc[i][piece * WIDTH + 3] = chain_next(acc[i][piece * WIDTH + 3], a[i], b.w);
#endif
  }
}

// Computes acc[i][e], the chain of query i of the pass with row e of the item, whose pieces begin at `row`.
void row_chains(QUERIES const float* restrict query, global const float* row[PIECES], uint dims,
                float acc[PASS][EACH]) {
#pragma unroll
  for (uint i = 0; i < PASS; ++i) {
#pragma unroll
    for (uint e = 0; e < EACH; ++e) acc[i][e] = chain_start();
  }
  uint d = 0;
#if PASS >= 16
  // Two dimensions are accumulated while the next two are loaded.
  if (dims >= 2) {
    Neighbours b0 = PIECE_OF(row[0], 0), b1 = PIECE_OF(row[0], 1);
#pragma unroll 2
    for (; d + 4 <= dims; d += 2, query += 2 * PITCH) {
      const Neighbours next0 = PIECE_OF(row[0], d + 2), next1 = PIECE_OF(row[0], d + 3);
      accumulate_dimension(query, b0, 0, acc);
      accumulate_dimension(query + PITCH, b1, 0, acc);
      b0 = next0;
      b1 = next1;
    }
    accumulate_dimension(query, b0, 0, acc);
    accumulate_dimension(query + PITCH, b1, 0, acc);
    query += 2 * PITCH;
    d += 2;
  }
#else
  for (; d + AHEAD <= dims; d += AHEAD, query += AHEAD * PITCH) {
    Neighbours b[PIECES][AHEAD];
#pragma unroll
    for (uint piece = 0; piece < PIECES; ++piece) {
#pragma unroll
      for (uint s = 0; s < AHEAD; ++s) b[piece][s] = PIECE_OF(row[piece], d + s);
    }
#pragma unroll
    for (uint s = 0; s < AHEAD; ++s) {
#pragma unroll
      for (uint piece = 0; piece < PIECES; ++piece)
        accumulate_dimension(query + s * PITCH, b[piece][s], piece, acc);
    }
  }
#endif
  for (; d < dims; ++d, query += PITCH) {
#pragma unroll
    for (uint piece = 0; piece < PIECES; ++piece)
      accumulate_dimension(query, PIECE_OF(row[piece], d), piece, acc);
  }
}

// Lowers the bounds by those from the first rows (shortlist.cl). All work-items call this; it ends with
// a barrier.
ALL_INLINE void bound_by_first_rows(float acc[PASS][EACH], local uint* least, local uint* sorted, uint k,
                                    uint parts, float values[PASS]) {
#pragma unroll
  for (uint i = 0; i < PASS; ++i) {
    float small = acc[i][0];
#pragma unroll
    for (uint e = 1; e < EACH; ++e) small = fmin(small, acc[i][e]);
    offer_least(least + i * parts, parts, isnan(small) ? NO_VALUE : ordered(small));
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  order_parts(least, sorted, PASS, parts);
  barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
  for (uint i = 0; i < PASS; ++i) {
    const float value = value_of(bound_of_part(sorted[i * parts + k - 1], parts));
    values[i] = isnan(values[i]) ? NAN : value;
  }
  barrier(CLK_LOCAL_MEM_FENCE);
}

// Puts near candidates into the buffers. Returns those that found no room.
//   near   bit i * EACH + e: row e is near query i
//   row    number of the item's row 0
//   full   becomes 1 if a buffer should be merged
ALL_INLINE ulong offer_rows(ulong near, float acc[PASS][EACH], uint row, local Key* buffers, uint capacity,
                            uint merge_at, local uint* counts, local uint* full) {
  uint places[PASS];  // all are requested before the first is waited for
#pragma unroll
  for (uint i = 0; i < PASS; ++i) {
    const uint wanted = (uint)popcount(near >> (i * EACH) & (~0ul >> (64 - EACH)));
    places[i] = wanted ? atomic_add(counts + i, wanted) : 0;
    if (wanted && places[i] + wanted >= merge_at) *full = 1;
  }
#pragma unroll
  for (uint i = 0; i < PASS; ++i) {
#pragma unroll
    for (uint e = 0; e < EACH; ++e) {
      if (!(near >> (i * EACH + e) & 1)) continue;
      const uint place = places[i]++;
      if (place >= capacity) continue;
      buffers[i * capacity + place] = make_key(acc[i][e], row + ROW_OF(e));
      near &= ~(1ul << (i * EACH + e));
    }
  }
  return near;
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_nearest_rows(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    uint first_row, uint k, uint lists, const Shortlist shortlist, global Key* restrict out, Place out_at,
    local Key* best, local Key* buffers, local uint* least, local float4* staged) {
  const uint list_size = shortlist.list_size, capacity = shortlist.capacity, merge_at = shortlist.merge_at,
             parts = shortlist.parts;
  const uint q_first = sides.q_first, q_rows = sides.q_rows, t_first = sides.t_first, t_rows = sides.t_rows,
             dims = sides.dims;
  local uint counts[PASS];
  local uint full;
  const uint lid = (uint)get_local_id(0), g = (uint)get_group_id(0);
  const uint q0 = (q_first / PASS + (uint)get_group_id(1)) * PASS;  // first query of the pass
  const uint begin = t_first + first_column(g, t_rows, lists);
  const uint end = t_first + first_column(g + 1, t_rows, lists);
  global const float* packed = queries + (size_t)(q0 / BLOCK) * dims * BLOCK + q0 % BLOCK;
#if STAGED
  local float* query = (local float*)staged;
  for (uint i = lid; i < PASS * dims; i += GROUP) query[i] = packed[i / PASS * BLOCK + i % PASS];
#else
  global const float* query = packed;
#endif
  shortlist_start(best, list_size, counts, PASS);
  local uint* sorted = least + PASS * parts;
  for (uint i = lid; i < 2 * PASS * parts; i += GROUP) least[i] = NO_VALUE;
  if (lid == 0) full = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  float values[PASS];  // values of the bounds; NaN, which nothing passes, for a query outside the tile
#pragma unroll
  for (uint i = 0; i < PASS; ++i) values[i] = q0 + i >= q_first && q0 + i < q_first + q_rows ? INFINITY : NAN;

  const uint first = begin / WIDTH * WIDTH;
  bool merged = false;
  uint filled = 0;  // number of keys in the fullest buffer at the end
  for (uint t0 = first; t0 < end && begin < end; t0 += GROUP * EACH) {
    const uint t = t0 + lid * WIDTH;
    ulong near = 0;  // bit i * EACH + e: row e is near query i
    float acc[PASS][EACH];
    if (t < end) {
      // A piece without a row of the list gets the address of the first piece, so that all can be read
      // without a condition.
      global const float* row[PIECES];
#pragma unroll
      for (uint piece = 0; piece < PIECES; ++piece) {
        const uint at = t + piece * GROUP * WIDTH < end ? t + piece * GROUP * WIDTH : t;
        row[piece] = train + (size_t)(at / BLOCK) * dims * BLOCK + at % BLOCK;
      }
      row_chains(query, row, dims, acc);
    }
#pragma unroll
    for (uint e = 0; e < EACH; ++e) {
      if (t + ROW_OF(e) >= begin && t + ROW_OF(e) < end) continue;
#pragma unroll
      for (uint i = 0; i < PASS; ++i) acc[i][e] = NAN;
    }
    if (t0 == first && k <= parts) bound_by_first_rows(acc, least, sorted, k, parts, values);
#pragma unroll
    for (uint i = 0; i < PASS; ++i) {
#pragma unroll
      for (uint e = 0; e < EACH; ++e) near |= (ulong)(acc[i][e] <= values[i]) << (i * EACH + e);
    }
    for (bool again = true; again;) {
      if (near)
        near = offer_rows(near, acc, first_row + (t - t_first), buffers, capacity, merge_at, counts, &full);
      barrier(CLK_LOCAL_MEM_FENCE);
      again = full;
      bool merge = again;
      if (t0 + GROUP * EACH >= end) {
        filled = 0;
        for (uint i = 0; i < PASS; ++i) filled = max(filled, counts[i]);
        merge = merge || merged || filled > MOST_RANKED(PASS);
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      // Lists that were merged are the result; short ones are never merged. There is only one call of the
      // merge in the source: it is long, and PoCL duplicates the code behind a barrier in a branch.
      if (merge) {
        if (lid == 0) full = 0;
        merged = true;
        shortlist_merge(best, list_size, buffers, capacity, counts, PASS);
#pragma unroll
        for (uint i = 0; i < PASS; ++i) {
          const float value = value_of(best[i * list_size + k - 1]);
          values[i] = isnan(values[i]) ? NAN : fmin(values[i], value);
#pragma unroll
          for (uint e = 0; e < EACH; ++e)
            if (near && !(acc[i][e] <= values[i])) near &= ~(1ul << (i * EACH + e));
        }
      }
    }
  }

  const uint wide = merged ? k : max(filled, k);
  for (uint i = lid; i < PASS * wide; i += GROUP) {
    const uint q = i / wide, place = i % wide, count = counts[q];
    if (q0 + q < q_first || q0 + q >= q_first + q_rows) continue;
    const bool found = !merged && place < count;
    const uint j = found ? rank_among(buffers + q * capacity, count, place) : place;
    const Key key = found ? buffers[q * capacity + place] : !merged ? NO_KEY : best[q * list_size + place];
    if (j < k) out[out_at.first + (q0 + q - q_first) * out_at.stride + (ulong)g * k + j] = key;
  }
}
