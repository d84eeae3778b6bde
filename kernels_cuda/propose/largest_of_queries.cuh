// The largest row terms of the queries of a step, which the bounds of every training row need.
//
// With few queries, each block that computes bounds finds them itself, which takes less time than another
// kernel. With more queries, some blocks find the largest of a part each, and the blocks that compute bounds
// combine the parts.
// No twin in kernels_cl: there each work-group finds them itself (collect_low.cl).
#pragma once

#include "propose/candidates.cuh"
#include "propose/product_error.cuh"

namespace kith::cuda {

/// The largest terms of `count` parts of the queries. If count is 0, they are found from the queries, if they
/// are needed at all.
struct LargestParts {
  const LargestOfQueries* parts;
  std::uint32_t count;
};

/// The bytes of scratch for parts.
inline constexpr std::size_t largest_bytes = 256;

/// Finds the largest terms of parts if there are many queries and products are not exact.
cudaError_t find_largest_parts(const Queue& queue, const ProductBound& bound, void* scratch,
                               LargestParts* out);

/// Returns the largest terms that any thread of the block has; all threads call this. No number is negative,
/// so the order of the bits is that of the numbers.
__device__ inline LargestOfQueries largest_of_threads(const LargestOfQueries& mine) {
  __shared__ std::uint32_t most[3];
  if (threadIdx.x < 3) most[threadIdx.x] = 0;
  __syncthreads();
  const float each[] = {mine.norm, mine.error, mine.quantized_norm};
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    std::uint32_t bits = __float_as_uint(each[i]);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(whole_warp, bits, step));
    if (threadIdx.x % 32 == 0) atomicMax(&most[i], bits);
  }
  __syncthreads();
  return {__uint_as_float(most[0]), __uint_as_float(most[1]), __uint_as_float(most[2])};
}

/// Returns the largest terms of queries q, q + step, ...
__device__ inline LargestOfQueries largest_of_some(const ProductBound& bound, std::uint32_t q,
                                                   std::uint32_t end, std::uint32_t step) {
  const Matrix<const float>& row_terms = bound.query_terms;
  LargestOfQueries most{};
#pragma unroll 4
  for (; q < end; q += step) {
    const float length = __ldg(row_terms.data + spi::quantized_norm * row_terms.stride + q);
    const float residual = __ldg(row_terms.data + spi::residual * row_terms.stride + q);
    most.norm = fmaxf(most.norm, __ldg(row_terms.data + spi::norm * row_terms.stride + q));
    most.error = fmaxf(most.error, query_error(residual, bound.b, length));
    most.quantized_norm = fmaxf(most.quantized_norm, length);
  }
  return most;
}

/// Returns the largest terms of all queries to all threads of a block; all threads call this.
__device__ inline LargestOfQueries largest_of_all(const ProductBound& bound, const LargestParts& of) {
  if (of.count > 0)
    return largest_of_threads(threadIdx.x < of.count ? of.parts[threadIdx.x] : LargestOfQueries{});
  return largest_of_threads(largest_of_some(bound, threadIdx.x, bound.queries, blockDim.x));
}

}  // namespace kith::cuda
