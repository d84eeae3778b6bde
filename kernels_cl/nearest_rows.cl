// nearest, for few queries (GPUs): distance and select in one step; bound by reading the rows.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, groups * k]   keys, ascending in each list, padded with NO_KEY
//
// Work-group (g, p) of GROUP items folds the PASS queries of pass p with the rows of group g, GROUP
// at a time, one row a work-item: neighbouring items read neighbouring floats, and every item reads
// the same queries. PASS divides 32. Candidates go to one shortlist a query (shortlist.cl); one
// that finds its buffer full waits for the merge and tries again.
// Local memory: PASS * (list_size + capacity) keys.
// Work: q * t * dims folds; train is read once a pass.
#include "metric.cl"
#include "shortlist.cl"

#define BLOCK 32
#define AHEAD 8  // dimensions of a row that are on their way from memory at once

void fold_dimension(global const float* restrict a, float b, float acc[PASS]) {
#pragma unroll
  for (uint i = 0; i < PASS; ++i) acc[i] = chain_next(acc[i], a[i], b);
}

// acc[i]: the chain of query i of the pass with one row.
void row_chains(global const float* restrict query, global const float* restrict row, uint dims,
                float acc[PASS]) {
#pragma unroll
  for (uint i = 0; i < PASS; ++i) acc[i] = chain_start();
  uint d = 0;
  for (; d + AHEAD <= dims; d += AHEAD) {
    float b[AHEAD];
#pragma unroll
    for (uint e = 0; e < AHEAD; ++e) b[e] = row[(size_t)(d + e) * BLOCK];
#pragma unroll
    for (uint e = 0; e < AHEAD; ++e) fold_dimension(query + (size_t)(d + e) * BLOCK, b[e], acc);
  }
  for (; d < dims; ++d) fold_dimension(query + (size_t)d * BLOCK, row[(size_t)d * BLOCK], acc);
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1)))
void kith_nearest_rows(global const float* restrict queries, uint q_first, uint q_rows,
                       global const float* restrict train, uint t_first, uint t_rows, uint dims,
                       uint first_row, uint k, uint groups, uint list_size, uint capacity,
                       uint merge_at, global Key* restrict out, ulong out_first, ulong out_stride,
                       local Key* lists, local Key* buffers) {
  local uint counts[PASS];
  local uint full;
  const uint lid = (uint)get_local_id(0), g = (uint)get_group_id(0);
  const uint q0 = (q_first / PASS + (uint)get_group_id(1)) * PASS;  // first query of the pass
  const uint begin = t_first + first_column(g, t_rows, groups);
  const uint end = t_first + first_column(g + 1, t_rows, groups);
  global const float* query = queries + (size_t)(q0 / BLOCK) * dims * BLOCK + q0 % BLOCK;
  shortlist_start(lists, list_size, counts, PASS);
  if (lid == 0) full = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  float values[PASS];  // of the bounds; NaN, which nothing passes, for a query outside the tile
#pragma unroll
  for (uint i = 0; i < PASS; ++i)
    values[i] = q0 + i >= q_first && q0 + i < q_first + q_rows ? INFINITY : NAN;

  for (uint t0 = begin; t0 < end; t0 += GROUP) {
    const uint t = t0 + lid;
    uint near = 0;  // bit i: query i wants this row
    float acc[PASS];
    if (t < end) {
      row_chains(query, train + (size_t)(t / BLOCK) * dims * BLOCK + t % BLOCK, dims, acc);
#pragma unroll
      for (uint i = 0; i < PASS; ++i) near |= (uint)(acc[i] <= values[i]) << i;
    }
    for (bool again = true; again;) {
      if (near) {
#pragma unroll
        for (uint i = 0; i < PASS; ++i) {
          if (!(near >> i & 1)) continue;
          const uint place = atomic_inc(counts + i);
          if (place + 1 >= merge_at) full = 1;
          if (place >= capacity) continue;
          buffers[i * capacity + place] = make_key(acc[i], first_row + (t - t_first));
          near &= ~(1u << i);
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      again = full;
      barrier(CLK_LOCAL_MEM_FENCE);
      if (again) {
        if (lid == 0) full = 0;
        shortlist_merge(lists, list_size, buffers, capacity, counts, PASS);
#pragma unroll
        for (uint i = 0; i < PASS; ++i) {
          values[i] = isnan(values[i]) ? NAN : value_of(lists[i * list_size + k - 1]);
          if ((near >> i & 1) && !(acc[i] <= values[i])) near &= ~(1u << i);
        }
      }
    }
  }
  shortlist_merge(lists, list_size, buffers, capacity, counts, PASS);
  for (uint i = lid; i < PASS * k; i += GROUP) {
    const uint q = q0 + i / k;
    if (q >= q_first && q < q_first + q_rows)
      out[out_first + (q - q_first) * out_stride + (ulong)g * k + i % k] =
          lists[i / k * list_size + i % k];
  }
}
