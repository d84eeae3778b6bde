// nearest, for many queries of few dimensions (GPUs): computes distances and selects in one step.
//
//   queries [q, DIMS]   train [t, DIMS]   blocks of 32 rows
//   out     [q, lists * k]   keys, ascending in each list, padded with NO_KEY
//
// Work-group (x, g) has GROUP items. Each keeps one query and its list of LIST >= k keys in registers, and
// computes its distances from the rows of group g, four at a time; the work-group stages these in local
// memory, POINTS at a time. The few rows below the bound go to a queue of QUEUE keys per item. All items
// empty their queues into their lists together, so that none waits for the insertions of another.
// Work: (2 DIMS + 1) q t instructions; if rows are in random order, about k (1 + ln(t / (lists k)))
// insertions per list, of 4 LIST instructions each. Local memory: 4 POINTS DIMS + 8 GROUP QUEUE bytes.
// A step of a chain gives the same bits if query and row are exchanged (tests/metric/test_metric.cpp). Here
// the row comes first: otherwise Intel's compiler for CPUs (2026.2) moves `-a` of a query out of the loop and
// across its barriers, and loses it there (docs/opencl.md). Source: the filter before selection of Johnson,
// Douze, Jegou 2017 (FAISS), and their thread queues.
#include "common/metric.cl"
#include "common/register_list.cl"
#include "kith/spi/kernel_limits.def"

#define BLOCK KITH_ROWS_A_BLOCK

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_nearest_low_dim(
    global const float* restrict queries, global const float* restrict train, const Sides sides,
    uint first_row, uint k, uint lists, global Key* restrict out, Place out_at) {
  const uint q_first = sides.q_first, q_rows = sides.q_rows, t_first = sides.t_first, t_rows = sides.t_rows;
  local float points[POINTS * DIMS] __attribute__((aligned(16)));  // [POINTS / BLOCK, DIMS, BLOCK]
  local Key queues[QUEUE * GROUP];                                 // [QUEUE, GROUP]
  local uint full;
  const uint lid = (uint)get_local_id(0), g = (uint)get_group_id(1);
  const uint q = min(q_first + (uint)get_global_id(0), q_first + q_rows - 1);
  const uint begin = t_first + first_column(g, t_rows, lists);
  const uint end = t_first + first_column(g + 1, t_rows, lists);
  const uint shift = first_row - t_first;  // wraps around, and back when it is added

  float a[DIMS];
#pragma unroll
  for (uint d = 0; d < DIMS; ++d) a[d] = queries[((size_t)(q / BLOCK) * DIMS + d) * BLOCK + q % BLOCK];
  Key list[LIST];
  start_list(list, k);
  float value = INFINITY;  // value of the bound
  uint size = 0;
  local Key* queue = queues + lid;
  if (lid == 0) full = 0;

  const size_t floats_end = ((size_t)(t_first + t_rows - 1) / BLOCK + 1) * BLOCK * DIMS;
  for (uint t0 = begin / BLOCK * BLOCK; t0 < end; t0 += POINTS) {
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lid; i < POINTS * DIMS; i += GROUP) {
      const size_t at = (size_t)t0 * DIMS + i;
      points[i] = at < floats_end ? train[at] : 0.0f;
    }
    const bool merge = full;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (lid == 0) full = 0;
    if (merge) {
      value = take_queue(queue, size, list);
      size = 0;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    const uint stop = min(end - t0, (uint)POINTS);
    for (uint p = 0; p < stop; p += 4) {
      local const float* point = points + (p / BLOCK * DIMS) * BLOCK + p % BLOCK;
      float acc[4];
#pragma unroll
      for (uint e = 0; e < 4; ++e) acc[e] = chain_start();
#pragma unroll
      for (uint d = 0; d < DIMS; ++d) {
        const float4 b = *(local const float4*)(point + d * BLOCK);
        acc[0] = chain_next(acc[0], b.x, a[d]);
        acc[1] = chain_next(acc[1], b.y, a[d]);
        acc[2] = chain_next(acc[2], b.z, a[d]);
        acc[3] = chain_next(acc[3], b.w, a[d]);
      }
      if (!((acc[0] <= value) | (acc[1] <= value) | (acc[2] <= value) | (acc[3] <= value))) continue;
#pragma unroll
      for (uint e = 0; e < 4; ++e) {
        const uint t = t0 + p + e;
        if (!(acc[e] <= value) || t < begin || t >= end) continue;
        queue[size++ * GROUP] = make_key(acc[e], t + shift);
        if (size == QUEUE) {
          value = take_queue(queue, size, list);
          size = 0;
        }
      }
    }
    if (size >= QUEUE / 2) full = 1;
  }
  take_queue(queue, size, list);
  if (q_first + (uint)get_global_id(0) >= q_first + q_rows) return;
  global Key* to = out + out_at.first + (ulong)(q - q_first) * out_at.stride + (ulong)g * k;
  put_list(list, k, to);
}
