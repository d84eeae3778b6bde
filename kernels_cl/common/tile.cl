// A work-group of 256 items computes the chains of a tile of 128 queries with 128 training rows (GPUs).
//
// Work-item (y, x) of 16 x 16 computes the distances of 8 queries from 8 rows in registers. STEP dimensions
// of both sides at a time are staged in local memory, in two buffers: while one is accumulated, the next step
// is loaded from global memory into registers, and each step costs one barrier. Rows are stored in transposed
// blocks of 32, so that a step of a block is one contiguous piece. Local memory: 16 KiB.
// Work: 128 arithmetic instructions for 4 vector loads, per dimension and item. Source: the register tiling
// of Volkov, Demmel, Benchmarking GPUs to tune dense linear algebra, 2008.
#include "common/metric.cl"
#include "kith/spi/kernel_limits.def"

#define TILE KITH_TILE_ROWS
#define STEP 8
#define BLOCK KITH_ROWS_A_BLOCK
#define EACH 8  // queries and rows per item

// The place in the tile of row or column `i` of work-item coordinate `c`; an item has two runs of four.
#define place_in_tile(c, i) (((i)&4) * 16 + (c)*4 + ((i)&3))

// Returns the four floats that work-item `lid` stages of step d0, for the tile that begins at block `block0`.
// For blocks behind `last`, block `last` is read; dimensions behind the last are 0; neither is used.
float4 fetch(global const float* rows, uint block0, uint last, uint dims, uint d0, uint lid) {
  const uint block = min(block0 + lid / 64, last), d = d0 + lid % 64 / 8;
  if (d >= dims) return (float4)(0.0f);
  return *(global const float4*)(rows + ((size_t)block * dims + d) * BLOCK + lid % 8 * 4);
}

void stage(local float* staged, uint lid, float4 values) {
  *(local float4*)(staged + lid % 64 / 8 * TILE + lid / 64 * BLOCK + lid % 8 * 4) = values;
}

void accumulate_dimension(local const float* q, local const float* t, uint y, uint x, float acc[EACH][EACH]) {
  const float4 a0 = *(local const float4*)(q + y * 4), a1 = *(local const float4*)(q + 64 + y * 4);
  const float4 b0 = *(local const float4*)(t + x * 4), b1 = *(local const float4*)(t + 64 + x * 4);
  const float a[EACH] = {a0.x, a0.y, a0.z, a0.w, a1.x, a1.y, a1.z, a1.w};
  const float b[EACH] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
#pragma unroll
    for (uint j = 0; j < EACH; ++j) acc[i][j] = chain_next(acc[i][j], a[i], b[j]);
  }
}

// Computes acc[i][j], the chain of query place_in_tile(y, i) with row place_in_tile(x, j).
//   q_staged, t_staged  [2, STEP, TILE]  not in use when this is called; a barrier must follow before they
//                                        are used again
void tile_chains(global const float* queries, uint q_block, uint q_last, global const float* train,
                 uint t_block, uint t_last, uint dims, local float* q_staged, local float* t_staged,
                 float acc[EACH][EACH]) {
  const uint lid = (uint)get_local_id(0), y = lid / 16, x = lid % 16;
#pragma unroll
  for (uint i = 0; i < EACH; ++i) {
#pragma unroll
    for (uint j = 0; j < EACH; ++j) acc[i][j] = chain_start();
  }
  float4 q_next = fetch(queries, q_block, q_last, dims, 0, lid);
  float4 t_next = fetch(train, t_block, t_last, dims, 0, lid);
  uint side = 0;
  for (uint d0 = 0; d0 < dims; d0 += STEP) {
    local float* q = q_staged + side * STEP * TILE;
    local float* t = t_staged + side * STEP * TILE;
    stage(q, lid, q_next);
    stage(t, lid, t_next);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (d0 + STEP < dims) {
      q_next = fetch(queries, q_block, q_last, dims, d0 + STEP, lid);
      t_next = fetch(train, t_block, t_last, dims, d0 + STEP, lid);
    }
    if (d0 + STEP <= dims) {
#pragma unroll
      for (uint d = 0; d < STEP; ++d) accumulate_dimension(q + d * TILE, t + d * TILE, y, x, acc);
    } else {
      for (uint d = 0; d < dims - d0; ++d) accumulate_dimension(q + d * TILE, t + d * TILE, y, x, acc);
    }
    side ^= 1;
  }
}
