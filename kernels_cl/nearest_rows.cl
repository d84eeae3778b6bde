// nearest, for few queries (GPUs): distance and select in one step.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, groups * k]   keys, ascending in each list, padded with NO_KEY
//
// Work-group (g, p) of GROUP = 256 items folds the PASS queries of pass p with the rows of group g,
// 4 * GROUP at a time, a work-item four neighbouring rows: 8 items read one dimension of a block as
// one line of 128 bytes. STAGED queries stand in local memory, others where they are; every item
// reads the same ones. PASS divides 32. Candidates go to one shortlist a query (shortlist.cl);
// one that finds its buffer full waits for the merge and tries again. A first bound comes from the
// first rows: the k-th smallest among the least of 32 parts of them, for k up to 32.
// Local memory: PASS * (list_size + capacity) keys, PASS * dims floats where STAGED.
// Work: q * t * dims folds; train is read once a pass.
#include "metric.cl"
#include "shortlist.cl"

#define BLOCK 32
#define EACH 4    // rows an item
#define PARTS 32  // of the first rows
#define AHEAD 8   // dimensions of a row that are on their way from memory at once

#if STAGED
#define QUERIES local
#define PITCH PASS  // floats from dimension to dimension
#else
#define QUERIES global
#define PITCH BLOCK
#endif

void fold_dimension(QUERIES const float* restrict query, float4 b, float acc[PASS][EACH]) {
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
    acc[i][0] = chain_next(acc[i][0], a[i], b.x);
    acc[i][1] = chain_next(acc[i][1], a[i], b.y);
    acc[i][2] = chain_next(acc[i][2], a[i], b.z);
    acc[i][3] = chain_next(acc[i][3], a[i], b.w);
  }
}

// acc[i][e]: the chain of query i of the pass with row e of four.
void row_chains(QUERIES const float* restrict query, global const float* restrict row, uint dims,
                float acc[PASS][EACH]) {
#pragma unroll
  for (uint i = 0; i < PASS; ++i) {
#pragma unroll
    for (uint e = 0; e < EACH; ++e) acc[i][e] = chain_start();
  }
  uint d = 0;
#if PASS >= 16
  // Two dimensions are folded while the next two are on their way.
  if (dims >= 2) {
    float4 b0 = *(global const float4*)row, b1 = *(global const float4*)(row + BLOCK);
#pragma unroll 2
    for (; d + 4 <= dims; d += 2) {
      row += 2 * BLOCK;
      const float4 next0 = *(global const float4*)row, next1 = *(global const float4*)(row + BLOCK);
      fold_dimension(query, b0, acc);
      fold_dimension(query + PITCH, b1, acc);
      query += 2 * PITCH;
      b0 = next0;
      b1 = next1;
    }
    fold_dimension(query, b0, acc);
    fold_dimension(query + PITCH, b1, acc);
    query += 2 * PITCH;
    row += 2 * BLOCK;
    d += 2;
  }
#else
  for (; d + AHEAD <= dims; d += AHEAD, query += AHEAD * PITCH, row += AHEAD * BLOCK) {
    float4 b[AHEAD];
#pragma unroll
    for (uint s = 0; s < AHEAD; ++s) b[s] = *(global const float4*)(row + s * BLOCK);
#pragma unroll
    for (uint s = 0; s < AHEAD; ++s) fold_dimension(query + s * PITCH, b[s], acc);
  }
#endif
  for (; d < dims; ++d, query += PITCH, row += BLOCK) fold_dimension(query, *(global const float4*)row, acc);
}

// Put the codes of each query in order, where each counts those before it: first bounds for k <= PARTS
// are the k-th of them. All work-items; a barrier comes before and after. Every item stores, each in a
// place of its own: PoCL 3.1 compiles a store of one item alone wrongly here.
void order_codes(local const uint* least, local uint* sorted) {
  for (uint at = (uint)get_local_id(0); at < PASS * PARTS; at += GROUP) {
    const uint first = at / PARTS * PARTS, mine = least[at];
    uint rank = 0;
    for (uint other = first; other < first + PARTS; ++other)
      rank += least[other] < mine || (least[other] == mine && other < at);
    sorted[first + rank] = mine;
  }
}

kernel __attribute__((reqd_work_group_size(GROUP, 1, 1))) void kith_nearest_rows(
    global const float* restrict queries, uint q_first, uint q_rows, global const float* restrict train,
    uint t_first, uint t_rows, uint dims, uint first_row, uint k, uint groups, uint list_size, uint capacity,
    uint merge_at, global Key* restrict out, ulong out_first, ulong out_stride, local Key* lists,
    local Key* buffers, local float4* staged) {
  local uint counts[PASS];
  local uint least[PASS * PARTS], sorted[PASS * PARTS];
  local uint full;
  const uint lid = (uint)get_local_id(0), g = (uint)get_group_id(0);
  const uint q0 = (q_first / PASS + (uint)get_group_id(1)) * PASS;  // first query of the pass
  const uint begin = t_first + first_column(g, t_rows, groups);
  const uint end = t_first + first_column(g + 1, t_rows, groups);
  global const float* packed = queries + (size_t)(q0 / BLOCK) * dims * BLOCK + q0 % BLOCK;
#if STAGED
  local float* query = (local float*)staged;
  for (uint i = lid; i < PASS * dims; i += GROUP) query[i] = packed[i / PASS * BLOCK + i % PASS];
#else
  global const float* query = packed;
#endif
  shortlist_start(lists, list_size, counts, PASS);
  for (uint i = lid; i < PASS * PARTS; i += GROUP) least[i] = NO_ROW;
  if (lid == 0) full = 0;
  barrier(CLK_LOCAL_MEM_FENCE);

  float values[PASS];  // of the bounds; NaN, which nothing passes, for a query outside the tile
#pragma unroll
  for (uint i = 0; i < PASS; ++i) values[i] = q0 + i >= q_first && q0 + i < q_first + q_rows ? INFINITY : NAN;

  for (uint t0 = begin / BLOCK * BLOCK; t0 < end && begin < end; t0 += GROUP * EACH) {
    const uint t = t0 + lid * EACH;
    ulong near = 0;  // bit i * EACH + e: query i wants row e
    float acc[PASS][EACH];
    if (t < end) {
      row_chains(query, train + (size_t)(t / BLOCK) * dims * BLOCK + t % BLOCK, dims, acc);
#pragma unroll
      for (uint e = 0; e < EACH; ++e) {
        if (t + e >= begin && t + e < end) continue;
#pragma unroll
        for (uint i = 0; i < PASS; ++i) acc[i][e] = NAN;
      }
    }
    if (t0 <= begin && k <= PARTS) {
      if (t < end) {
#pragma unroll
        for (uint i = 0; i < PASS; ++i) {
          const float small = fmin(fmin(acc[i][0], acc[i][1]), fmin(acc[i][2], acc[i][3]));
          if (!isnan(small)) atomic_min(least + i * PARTS + lid / (GROUP / PARTS), ordered(small));
        }
      }
      barrier(CLK_LOCAL_MEM_FENCE);
      order_codes(least, sorted);
      barrier(CLK_LOCAL_MEM_FENCE);
#pragma unroll
      for (uint i = 0; i < PASS; ++i) {
        const float value = value_of((Key)sorted[i * PARTS + k - 1] << 32 | NO_ROW);
        values[i] = isnan(values[i]) ? NAN : value;
      }
    }
    if (t < end) {
#pragma unroll
      for (uint i = 0; i < PASS; ++i) {
#pragma unroll
        for (uint e = 0; e < EACH; ++e) near |= (ulong)(acc[i][e] <= values[i]) << (i * EACH + e);
      }
    }
    for (bool again = true; again;) {
      if (near) {
#pragma unroll
        for (uint i = 0; i < PASS; ++i) {
#pragma unroll
          for (uint e = 0; e < EACH; ++e) {
            if (!(near >> (i * EACH + e) & 1)) continue;
            const uint place = atomic_inc(counts + i);
            if (place + 1 >= merge_at) full = 1;
            if (place >= capacity) continue;
            buffers[i * capacity + place] = make_key(acc[i][e], first_row + (t + e - t_first));
            near &= ~(1ul << (i * EACH + e));
          }
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
          const float value = value_of(lists[i * list_size + k - 1]);
          values[i] = isnan(values[i]) ? NAN : fmin(values[i], value);
#pragma unroll
          for (uint e = 0; e < EACH; ++e)
            if (near && !(acc[i][e] <= values[i])) near &= ~(1ul << (i * EACH + e));
        }
      }
    }
  }
  shortlist_merge(lists, list_size, buffers, capacity, counts, PASS);
  for (uint i = lid; i < PASS * k; i += GROUP) {
    const uint q = q0 + i / k;
    if (q >= q_first && q < q_first + q_rows)
      out[out_first + (q - q_first) * out_stride + (ulong)g * k + i % k] = lists[i / k * list_size + i % k];
  }
}
