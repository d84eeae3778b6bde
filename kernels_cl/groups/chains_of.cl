// The chains of one query with EACH neighbouring rows, which are in one block.
// No twin in kernels_cuda: groups.cu and groups_points.cu have them beside their kernels.
#include "common/metric.cl"
#include "kith/spi/kernel_limits.def"

#define BLOCK KITH_ROWS_A_BLOCK

// Computes the chains of a query with EACH neighbouring rows.
ALL_INLINE void chains_of(const float* a, global const float* query, global const float* row, uint dims,
                          float acc[EACH]) {
#pragma unroll
  for (uint e = 0; e < EACH; ++e) acc[e] = chain_start();
#ifdef DIMS
#pragma unroll
  for (uint d = 0; d < DIMS; ++d) {
    const float value = a[d];
#else
  for (uint d = 0; d < dims; ++d) {
    const float value = query[(size_t)d * BLOCK];
#endif
#pragma unroll
    for (uint e = 0; e < EACH; e += 4) {
      const float4 b = *(global const float4*)(row + (size_t)d * BLOCK + e);
      acc[e] = chain_next(acc[e], b.x, value);
      acc[e + 1] = chain_next(acc[e + 1], b.y, value);
      acc[e + 2] = chain_next(acc[e + 2], b.z, value);
      acc[e + 3] = chain_next(acc[e + 3], b.w, value);
    }
  }
}
