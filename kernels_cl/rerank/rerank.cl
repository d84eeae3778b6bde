// rerank: computes the chain of every listed candidate, as a key.
//
//   queries     [q, dims]       blocks of 32 rows
//   train       [t, dims]       the same, or with -D IN_ORDER contiguous rows
//   candidates  [q, capacity]   training rows, stride in elements; `counts` says how many each list has
//   counts      [q]             may exceed the capacity, stride in elements
//   out         [q, capacity]   the key of each candidate, stride in elements
//
// Work-groups (0, q) ... (groups - 1, q) of GROUP items share query q. Each item handles one candidate and
// computes its chain. All items read the same elements of the query; successive elements of a candidate are
// 128 bytes apart, or 4, and AHEAD of them are requested at once. No barrier, no local memory.
// Work: sum of counts * dims multiply-adds, each of which reads 32 bytes from memory, or 4.
#include "common/metric.cl"
#include "kith/spi/kernel_limits.def"

#define BLOCK KITH_ROWS_A_BLOCK
#define AHEAD 16  // dimensions that are loaded ahead

// The first element of training row `r` of the memory, and the distance to the next element.
#ifdef IN_ORDER
#define TRAIN_PITCH 1
#define TRAIN_ROW(r) (train + (size_t)(r)*dims)
#else
#define TRAIN_PITCH BLOCK
#define TRAIN_ROW(r) (train + (size_t)((r) / BLOCK) * dims * BLOCK + (r) % BLOCK)
#endif

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_rerank(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    uint first_row, global const uint* restrict candidates, Place candidates_at, uint capacity,
    global const uint* restrict counts, Place counts_at, global Key* restrict out, Place out_at) {
  const uint q_first = sides.q_first, t_first = sides.t_first, dims = sides.dims;
  const uint q = (uint)get_group_id(1);
  const uint many = min(capacity, counts[counts_at.first + q * counts_at.stride]);
  const uint packed = q_first + q;
  candidates += candidates_at.first + q * candidates_at.stride;
  out += out_at.first + q * out_at.stride;
  for (ulong j = get_global_id(0); j < many; j += get_global_size(0)) {
    const uint row = candidates[j], r = t_first + (row - first_row);
    global const float* a = queries + (size_t)(packed / BLOCK) * dims * BLOCK + packed % BLOCK;
    global const float* b = TRAIN_ROW(r);
    float acc = chain_start();
    uint d = 0;
    for (; d + AHEAD <= dims; d += AHEAD, a += AHEAD * BLOCK, b += AHEAD * TRAIN_PITCH) {
      float x[AHEAD], y[AHEAD];
#pragma unroll
      for (uint s = 0; s < AHEAD; ++s) y[s] = b[s * TRAIN_PITCH];
#pragma unroll
      for (uint s = 0; s < AHEAD; ++s) x[s] = a[s * BLOCK];
#pragma unroll
      for (uint s = 0; s < AHEAD; ++s) acc = chain_next(acc, x[s], y[s]);
    }
    for (; d < dims; ++d, a += BLOCK, b += TRAIN_PITCH) acc = chain_next(acc, *a, *b);
    out[j] = make_key(acc, row);
  }
}
