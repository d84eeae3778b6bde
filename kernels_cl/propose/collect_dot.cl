// collect, dot (GPUs): computes inner products of quantized rows in single precision and tests them at once;
// they are never written.
//
//   queries   [q, dims]   train [t, dims]   quantized rows, blocks of 32 rows
//   low       [places]    the values from which products are subtracted (collect_low.cl), `gap_first` floats
//                         before `gap`
//   threshold [q]         stride in elements
//   rows, counts, lows, highs             see candidates.cl
//
// Compiled with -D METRIC=negative_dot, whose chain is the negative product, with one instruction per
// dimension. Work-group g of 256 items multiplies 128 queries (tile g % query_tiles) with 128 training rows
// (tile g / query_tiles, visits.cl), as in tile.cl. A row is kept if low - product is at most the threshold.
// As in collect.cl, kept rows are counted in local memory, and places for all rows of a query are reserved
// with one atomic addition. Neighbouring groups share their training rows in the cache.
// Work: q * t * dims multiply-adds, and two instructions per pair.
// No twin in kernels_cuda: the CUDA back end has no proposer dot.
#include "common/tile.cl"
#include "propose/candidates.cl"
#include "propose/visits.cl"

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void kith_collect_dot(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    uint query_tiles, uint4 visits, global const float* restrict low_of, ulong gap_first,
    global const float* restrict threshold_of, Place threshold_at, uint first_row, CANDIDATES) {
  const uint q_first = sides.q_first, q_rows = sides.q_rows, t_first = sides.t_first, t_rows = sides.t_rows,
             dims = sides.dims;
  local float q_staged[2 * STEP * TILE] __attribute__((aligned(16)));
  local float t_staged[2 * STEP * TILE] __attribute__((aligned(16)));
  local uint kept[TILE], begin[TILE];
  const uint lid = (uint)get_local_id(0), y = lid / 16, x = lid % 16;
  const uint query_tile = (uint)get_group_id(0) % query_tiles, tile = (uint)get_group_id(0) / query_tiles;
  const ulong t0 = row_of_tile(visits, tile);
  if (t0 >= t_rows) return;
  for (uint i = lid; i < TILE; i += 256) kept[i] = 0;  // the function for the chains has a barrier
  float acc[EACH][EACH];
  tile_chains(queries, q_first / BLOCK + query_tile * (TILE / BLOCK), (q_first + q_rows - 1) / BLOCK, train,
              (t_first + (uint)t0) / BLOCK, (t_first + t_rows - 1) / BLOCK, dims, q_staged, t_staged, acc);

  low_of += (ulong)tile * TILE;
  float low[EACH];
#pragma unroll
  for (uint j = 0; j < EACH; ++j) low[j] = low_of[place_in_tile(x, j)];
  ulong near = 0;     // bit i * EACH + j: query i of this item keeps row j
  uint before[EACH];  // number of rows kept by other items, whose places come before
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint q = query_tile * TILE + place_in_tile(y, i);
    const float threshold = q < q_rows ? threshold_of[threshold_at.first + q * threshold_at.stride] : NAN;
    uint bits = 0;
#pragma unroll
    for (uint j = 0; j < EACH; ++j) bits |= (uint)(low[j] + acc[i][j] <= threshold) << j;
    if (bits) before[i] = atomic_add(kept + place_in_tile(y, i), popcount(bits));
    near |= (ulong)bits << (i * EACH);
  }

  barrier(CLK_LOCAL_MEM_FENCE);
  for (uint i = lid; i < TILE; i += 256)
    if (kept[i]) begin[i] = atomic_add(COUNT_OF(query_tile * TILE + i), kept[i]);
  barrier(CLK_LOCAL_MEM_FENCE);
  if (!near) return;
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint bits = (uint)(near >> (i * EACH)) & ((1u << EACH) - 1);
    if (!bits) continue;
    const ulong q = query_tile * TILE + place_in_tile(y, i);
    uint place = begin[place_in_tile(y, i)] + before[i];
#pragma unroll
    for (uint j = 0; j < EACH; ++j) {
      if (!(bits >> j & 1) || place >= lists.capacity) continue;
      PUT_CANDIDATE(q, place, first_row + (uint)t0 + place_in_tile(x, j), low[j] + acc[i][j],
                    low_of[gap_first + place_in_tile(x, j)]);
      ++place;
    }
  }
}
