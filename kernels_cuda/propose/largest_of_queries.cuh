// The largest of what bounds need of the queries of a step, which every row's bound is made with.
//
// Of few queries each block that makes bounds finds it for itself, which takes less than a kernel of its own;
// of more, some blocks find that of a part each, and the blocks that make bounds that of the parts.
// No twin in kernels_cl: each work-group finds it by itself there (collect_low.cl).
#pragma once

#include "propose/candidates.cuh"
#include "propose/product_error.cuh"

namespace kith::cuda {

/// Of `count` parts of the queries; of the queries themselves where it is 0.
struct LargestParts {
  const LargestOfQueries* parts;
  std::uint32_t count;
};

/// Bytes of scratch for parts.
inline constexpr std::size_t largest_bytes = 256;

/// Find the largest of parts where there are many queries.
cudaError_t find_largest_parts(const Queue& queue, const ProductBound& bound, void* scratch,
                               LargestParts* out);

/// The largest of all threads of a block, each of which has some. No number is below 0, so their bits have
/// the order of the numbers. Called by all.
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

/// Of queries q, q + step, ...
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

/// The largest of all queries, for all threads of a block. Called by all.
__device__ inline LargestOfQueries largest_of_all(const ProductBound& bound, const LargestParts& of) {
  if (of.count > 0)
    return largest_of_threads(threadIdx.x < of.count ? of.parts[threadIdx.x] : LargestOfQueries{});
  return largest_of_threads(largest_of_some(bound, threadIdx.x, bound.queries, blockDim.x));
}

}  // namespace kith::cuda
