// What the product with a training row is taken from, and how far its bounds are apart, place by place.
//
//   query facts [4, q]   train facts [4, t]
//   low  [columns]   half_norm - E, or -E for inner products, rounded down; NaN where there is no row
//   gap  [columns]   norm^2 / 2 + E - low, or 2 E, rounded up
//
// First the largest of what bounds need of the queries, by one block, then a thread a place.
// Work: 16 bytes read and 8 written a place. Source: docs/certificate.md, section 4.
#include <cmath>

#include "candidates.cuh"
#include "prepare_fp16.hpp"
#include "product_error.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;

constexpr std::uint32_t query_threads = 1024;
constexpr std::size_t largest_bytes = 256;

/// The largest norm(q), shadow_norm(q), and residual(q) + b shadow_norm(q), by one block. No number is below
/// 0, so their bits have the order of the numbers.
__global__ __launch_bounds__(query_threads) void find_largest(const ProductBound bound,
                                                              LargestOfQueries* largest) {
  __shared__ std::uint32_t most[3];
  const Matrix<const float> facts = bound.query_facts;
  float norm = 0, error = 0, shadow_norm = 0;
  for (std::uint32_t q = threadIdx.x; q < bound.queries; q += query_threads) {
    const float length = facts.data[fact::shadow_norm * facts.stride + q];
    norm = fmaxf(norm, facts.data[fact::norm * facts.stride + q]);
    shadow_norm = fmaxf(shadow_norm, length);
    error = fmaxf(error, query_error(facts.data[fact::residual * facts.stride + q], bound.b, length));
  }
  if (threadIdx.x < 3) most[threadIdx.x] = 0;
  __syncthreads();
  const float mine[] = {norm, error, shadow_norm};
#pragma unroll
  for (int i = 0; i < 3; ++i) {
    std::uint32_t bits = __float_as_uint(mine[i]);
#pragma unroll
    for (int step = 16; step > 0; step /= 2) bits = max(bits, __shfl_xor_sync(whole_warp, bits, step));
    if (threadIdx.x % 32 == 0) atomicMax(&most[i], bits);
  }
  __syncthreads();
  if (threadIdx.x == 0)
    *largest = {__uint_as_float(most[0]), __uint_as_float(most[1]), __uint_as_float(most[2])};
}

/// low and gap of a place, rounded to the safe side.
__global__ __launch_bounds__(threads) void compute_low(const ProductBound bound, const ErrorTerms terms,
                                                       const LargestOfQueries* largest, float* low,
                                                       float* gap) {
  const std::uint32_t place = blockIdx.x * threads + threadIdx.x;
  if (place >= bound.columns) return;
  const std::uint64_t t = row_of_tile(bound.tiles, place / tile_of_halves) + place % tile_of_halves;
  if (t >= bound.rows) {
    low[place] = not_a_candidate();
    if (gap != nullptr) gap[place] = 0;
    return;
  }
  const auto fact_of = [&](std::size_t which) {
    return __ldg(bound.train_facts.data + which * bound.train_facts.stride + t);
  };
  const float norm = fact_of(fact::norm);
  const double error = row_error(terms, *largest, fact_of(fact::residual), norm, fact_of(fact::shadow_norm));
  const float least = row_low(bound.squared ? fact_of(fact::half_norm) : 0, error);
  low[place] = least;
  if (gap != nullptr) gap[place] = row_gap(bound.squared ? norm : 0, error, least);
}

}  // namespace

double product_error(std::uint32_t dims) {
  const double x = (static_cast<double>(dims) + 2.0) * 0x1p-24;  // exact, and so is 1 - x
  return std::nextafter(x / (1.0 - x), 1e300);
}

double product_error_fp16(std::uint32_t dims) {
  return 12.0 * static_cast<double>(divide_up(half_terms(dims), 8u)) * 0x1p-24 * half_excess(dims);
}

cudaError_t find_largest_of_queries(const Queue& queue, const ProductBound& bound,
                                    LargestOfQueries* largest) {
  return launch(queue, find_largest, 1, query_threads, 0, bound, largest);
}

std::size_t product_low_scratch(std::uint32_t columns, bool gap) {
  return largest_bytes + std::size_t{columns} * sizeof(float) * (gap ? 2 : 1);
}

cudaError_t product_low(const Queue& queue, const ProductBound& bound, bool gap, const Scratch& scratch,
                        ProductLow* out) {
  auto* const largest = static_cast<LargestOfQueries*>(scratch.data);
  auto* const low = reinterpret_cast<float*>(static_cast<unsigned char*>(scratch.data) + largest_bytes);
  float* const gaps = gap ? low + bound.columns : nullptr;
  *out = {low, gaps};
  const ErrorTerms terms = error_terms(bound.squared, bound.dims);
  const cudaError_t found = find_largest_of_queries(queue, bound, largest);
  if (found != cudaSuccess) return found;
  return launch(queue, compute_low, divide_up(bound.columns, threads), threads, 0, bound, terms, largest, low,
                gaps);
}

}  // namespace kith::cuda
