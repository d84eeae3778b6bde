// distance: computes one chain for each pair of a query and a training row.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, t]      row-major, stride in elements; raw values
//
// Work-group (x, y) of 256 items handles 128 queries (tile x, counted from the block of the first query) and
// 128 training rows (tile y), see tile.cl. Pairs outside of what is asked for are computed, but not written.
// Neighbouring groups share their training rows in the cache.
// Work: q * t * dims multiply-adds, two instructions each.
#include "common/tile.cl"

kernel __attribute__((reqd_work_group_size(256, 1, 1))) void kith_distance(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    global float* restrict out, Place out_at) {
  const uint q_first = sides.q_first, q_rows = sides.q_rows, t_first = sides.t_first, t_rows = sides.t_rows,
             dims = sides.dims;
  local float q_staged[2 * STEP * TILE] __attribute__((aligned(16)));
  local float t_staged[2 * STEP * TILE] __attribute__((aligned(16)));
  const uint lid = (uint)get_local_id(0), y = lid / 16, x = lid % 16;
  const uint q_block = q_first / BLOCK + (uint)get_group_id(0) * (TILE / BLOCK);
  const uint t_block = t_first / BLOCK + (uint)get_group_id(1) * (TILE / BLOCK);
  float acc[EACH][EACH];
  tile_chains(queries, q_block, (q_first + q_rows - 1) / BLOCK, train, t_block,
              (t_first + t_rows - 1) / BLOCK, dims, q_staged, t_staged, acc);

  const uint t_end = t_first + t_rows;
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
    const uint q = q_block * BLOCK + place_in_tile(y, i);
    if (q < q_first || q >= q_first + q_rows) continue;
    const ulong row = out_at.first + (q - q_first) * out_at.stride;
#pragma unroll
    for (uint j = 0; j < EACH; j += 4) {
      const uint t = t_block * BLOCK + place_in_tile(x, j);
      const ulong at = row + t - t_first;  // valid only if t >= t_first
      if (t >= t_first && t + 4 <= t_end && at % 4 == 0) {
        *(global float4*)(out + at) = (float4)(acc[i][j], acc[i][j + 1], acc[i][j + 2], acc[i][j + 3]);
      } else {
#pragma unroll
        for (uint e = 0; e < 4; ++e)
          if (t + e >= t_first && t + e < t_end) out[at + e] = acc[i][j + e];
      }
    }
  }
}
