// The chains of CPU devices, with one training row per lane.
//
// Training rows are stored in blocks of 16 (TRAIN_BLOCK), queries in blocks of QUERY_BLOCK, both transposed,
// so that dimension d of a block is one vector load, and dimension d of PASS neighbouring queries is PASS
// broadcasts. Each lane has PASS independent chains, which hide the latency of fma; PASS divides QUERY_BLOCK.
// No barrier, no local memory: a CPU runs work-items one after another.
// No twin in kernels_cuda: CUDA has no CPU devices.
#define LANE float16
#include "common/metric.cl"

// Computes acc[i], the chains of query i of a pass with the 16 rows of a block.
//   query  dimension 0 of the first query of the pass
//   block  dimension 0 of the first row of the block
void chains(global const float* restrict query, global const float* restrict block, uint dims, float16* acc) {
  float16 a[PASS];
#pragma unroll
  for (uint i = 0; i < PASS; ++i) a[i] = chain_start();
  for (uint d = 0; d < dims; ++d) {
    const float16 b = vload16(0, block + (size_t)d * TRAIN_BLOCK);
#pragma unroll
    for (uint i = 0; i < PASS; ++i) a[i] = chain_next(a[i], (float16)(query[(size_t)d * QUERY_BLOCK + i]), b);
  }
#pragma unroll
  for (uint i = 0; i < PASS; ++i) acc[i] = a[i];
}

// Returns the address of dimension 0 of query `q`, the first of the PASS queries of a pass.
global const float* query_at(global const float* queries, uint q, uint dims) {
  return queries + (size_t)(q / QUERY_BLOCK) * dims * QUERY_BLOCK + q % QUERY_BLOCK;
}

// Returns the address of dimension 0 of the 16 rows of block `b`.
global const float* block_at(global const float* train, uint b, uint dims) {
  return train + (size_t)b * dims * TRAIN_BLOCK;
}
