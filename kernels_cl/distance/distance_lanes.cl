// distance, for CPU devices: computes one chain for each pair of a query and a training row.
//
//   queries [q, dims]   blocks of QUERY_BLOCK rows     train [t, dims]   blocks of 16 rows
//   out     [q, t]      row-major, stride in elements; raw values
//
// Work-item (p, c) computes the distances of the PASS queries of pass p from `chunk` blocks of training rows.
// Items with the same c share those blocks, which stay in the second-level cache. Rows of the first and last
// block that lie outside the tile are computed, but not written.
// Work: q * t * dims multiply-adds; each query pass reads the training rows once, from the cache.
// No twin in kernels_cuda: CUDA has no CPU devices.
#include "common/lanes.cl"

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_distance_lanes(
    global const float* restrict queries, global const float* restrict train, const Sides sides, uint chunk,
    global float* restrict out, Place out_at) {
  const uint q_first = sides.q_first, q_rows = sides.q_rows, t_first = sides.t_first, t_rows = sides.t_rows,
             dims = sides.dims;
  const uint q0 = (q_first / PASS + (uint)get_global_id(0)) * PASS;  // first query of the pass
  if (q0 >= q_first + q_rows) return;
  const uint last = (t_first + t_rows - 1) / TRAIN_BLOCK;
  const uint begin = t_first / TRAIN_BLOCK + (uint)get_global_id(1) * chunk;
  const uint end = min(last + 1, begin + chunk);
  global const float* query = query_at(queries, q0, dims);

  for (uint b = begin; b < end; ++b) {
    float16 acc[PASS];
    chains(query, block_at(train, b, dims), dims, acc);
    const uint r0 = b * TRAIN_BLOCK;  // row of lane 0
    const bool whole = r0 >= t_first && r0 + TRAIN_BLOCK <= t_first + t_rows;
    for (uint i = 0; i < PASS; ++i) {
      const uint q = q0 + i;
      if (q < q_first || q >= q_first + q_rows) continue;
      global float* row = out + out_at.first + (q - q_first) * out_at.stride;
      if (whole) {
        vstore16(acc[i], 0, row + (r0 - t_first));
        continue;
      }
      float lane[TRAIN_BLOCK];
      vstore16(acc[i], 0, lane);
      for (uint j = 0; j < TRAIN_BLOCK; ++j)
        if (r0 + j >= t_first && r0 + j < t_first + t_rows) row[r0 + j - t_first] = lane[j];
    }
  }
}
