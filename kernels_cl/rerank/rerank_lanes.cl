// rerank, for CPU devices: computes the chain of every listed candidate, as a key.
//
//   queries     [q, dims]       blocks of QUERY_BLOCK rows     train [t, dims]   blocks of TRAIN_BLOCK rows
//   candidates  [q, capacity]   training rows, stride in elements; `counts` says how many each list has
//   counts      [q]             may exceed the capacity, stride in elements
//   out         [q, capacity]   the key of each candidate, stride in elements
//
// Work-item q handles 16 candidates of query q at a time, one per lane, gathered from their places in memory.
// The last 16 are filled up with copies of the first of them. Work: sum of counts * dims multiply-adds.
// No twin in kernels_cuda: CUDA has no CPU devices.
#define LANE float16
#include "common/metric.cl"

kernel __attribute__((reqd_work_group_size(1, 1, 1))) void kith_rerank_lanes(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    uint first_row, global const uint* restrict candidates, Place candidates_at, uint capacity,
    global const uint* restrict counts, Place counts_at, global Key* restrict out, Place out_at) {
  const uint q_first = sides.q_first, t_first = sides.t_first, dims = sides.dims;
  const uint q = (uint)get_global_id(0);
  const uint many = min(capacity, counts[counts_at.first + q * counts_at.stride]);
  const uint packed = q_first + q;
  global const float* query =
      queries + (size_t)(packed / QUERY_BLOCK) * dims * QUERY_BLOCK + packed % QUERY_BLOCK;
  candidates += candidates_at.first + q * candidates_at.stride;
  out += out_at.first + q * out_at.stride;
  for (uint j0 = 0; j0 < many; j0 += 16) {
    const uint width = min(16u, many - j0);
    size_t at[16];
    for (uint j = 0; j < 16; ++j) {
      const uint r = t_first + (candidates[j0 + (j < width ? j : 0)] - first_row);
      at[j] = (size_t)(r / TRAIN_BLOCK) * dims * TRAIN_BLOCK + r % TRAIN_BLOCK;
    }
    float16 acc = chain_start();
    for (uint d = 0; d < dims; ++d) {
      global const float* here = train + (size_t)d * TRAIN_BLOCK;
      const float16 b =
          (float16)(here[at[0]], here[at[1]], here[at[2]], here[at[3]], here[at[4]], here[at[5]], here[at[6]],
                    here[at[7]], here[at[8]], here[at[9]], here[at[10]], here[at[11]], here[at[12]],
                    here[at[13]], here[at[14]], here[at[15]]);
      acc = chain_next(acc, (float16)(query[(size_t)d * QUERY_BLOCK]), b);
    }
    float lane[16];
    vstore16(acc, 0, lane);
    for (uint j = 0; j < width; ++j) out[j0 + j] = make_key(lane[j], candidates[j0 + j]);
  }
}
