// collect, dot, for CPU devices: computes inner products of quantized rows in single precision and tests them
// at once.
//
//   queries   [q, dims]   quantized rows, blocks of QUERY_BLOCK rows     train [t, dims]   blocks of 16 rows
//   low       [places]    the values from which products are subtracted (collect_low.cl), `gap_first` floats
//                         before `gap`
//   threshold [q]         stride in elements
//   rows, counts, lows, highs                                   see candidates.cl
//
// Compiled with -D METRIC=negative_dot, whose chain is the negative product, with one instruction per
// dimension. Work-item (p, c) multiplies the PASS queries of pass p with `chunk` tiles of 128 training rows
// (visits.cl), which stay in the second-level cache. A row is kept if low - product is at most the threshold.
// Work: q * t * dims multiply-adds; each query pass reads the training rows once, from the cache.
// No twin in kernels_cuda: CUDA has no CPU devices.
#include "common/lanes.cl"
#include "propose/append_lanes.cl"
#include "propose/visits.cl"

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_collect_dot_lanes(
    global const float* restrict queries, global const float* restrict train, const Sides sides, uint tiles,
    uint chunk, uint4 visits, global const float* restrict low_of, ulong gap_first,
    global const float* restrict threshold_of, Place threshold_at, uint first_row, CANDIDATES) {
  const uint q_first = sides.q_first, q_rows = sides.q_rows, t_first = sides.t_first, t_rows = sides.t_rows,
             dims = sides.dims;
  const uint q0 = (uint)get_global_id(0) * PASS;
  global const float* query = query_at(queries, q_first + q0, dims);
  float threshold[PASS];  // NaN if there is no query
  for (uint i = 0; i < PASS; ++i)
    threshold[i] = q0 + i < q_rows ? threshold_of[threshold_at.first + (q0 + i) * threshold_at.stride] : NAN;

  const uint begin = (uint)get_global_id(1) * chunk, end = min(tiles, begin + chunk);
  for (uint tile = begin; tile < end; ++tile) {
    const ulong t0 = row_of_tile(visits, tile);
    for (uint t = 0; t < VISIT_TILE && t0 + t < t_rows; t += TRAIN_BLOCK) {
      float16 acc[PASS];
      chains(query, block_at(train, (t_first + (uint)t0 + t) / TRAIN_BLOCK, dims), dims, acc);
      global const float* low = low_of + (ulong)tile * VISIT_TILE + t;
      const float16 least = vload16(0, low);
      for (uint i = 0; i < PASS; ++i) {
        const float16 v = least + acc[i];
        const int16 near = v <= (float16)(threshold[i]);
        if (any(near)) append(near, v, low + gap_first, q0 + i, first_row + (uint)t0 + t, CANDIDATES_HERE);
      }
    }
  }
}
