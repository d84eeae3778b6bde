// Computes, for each place, the value that the product with its training row is subtracted from, and the
// distance between its lower and its upper bound.
//
//   query row terms [4, q]   train row terms [4, t]
//   low  [columns]   half_norm - E, or -E for inner products, rounded down; NaN if there is no row or its
//                    terms are NaN. For exact products E is 0, and only half_norm is read
//   gap  [columns]   norm^2 / 2 + E - low, or 2 E for inner products, rounded up
//   lift [columns]   for int8: `low` as an integer, see lifted.cuh
//
// One thread handles one place. The largest terms of the queries are found before, or by each block
// (largest_of_queries.cuh). Work: 16 bytes are read and 8 written per place. Source: docs/certificate.md,
// section 4.
#include <algorithm>
#include <cmath>

#include "prepare/prepare_fp16.hpp"
#include "propose/largest_of_queries.cuh"
#include "propose/lifted.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t terms_threads = 256;

constexpr std::uint32_t part_threads = 512, part_queries = 2048, most_parts = 16;
static_assert(most_parts * sizeof(LargestOfQueries) <= largest_bytes);

/// Finds the largest terms in part blockIdx.x of the queries.
__global__ __launch_bounds__(part_threads) void find_largest(const ProductBound bound,
                                                             LargestOfQueries* parts) {
  take_turn();
  const std::uint32_t share = divide_up(bound.queries, gridDim.x), first = blockIdx.x * share;
  const LargestOfQueries most = largest_of_threads(
      largest_of_some(bound, first + threadIdx.x, min(first + share, bound.queries), part_threads));
  if (threadIdx.x == 0) parts[blockIdx.x] = most;
}

struct Out {
  float *low, *gap;
  int* lift;
  double unit;  ///< the value of 1 in an integer sum
};

/// Computes low, gap and lift of a place, rounded to the safe side.
__global__ __launch_bounds__(terms_threads) void compute_low(const ProductBound bound, const ErrorTerms terms,
                                                             const LargestParts parts, const Out out) {
  take_turn();
  const LargestOfQueries largest = bound.exact ? LargestOfQueries{} : largest_of_all(bound, parts);
  const std::uint32_t place = blockIdx.x * terms_threads + threadIdx.x;
  if (place >= bound.columns) return;
  const std::uint64_t t = row_of_tile(bound.tiles, place / tile_of_halves) + place % tile_of_halves;
  const auto put = [&](float low, float gap) {
    out.low[place] = low;
    if (out.gap != nullptr) out.gap[place] = gap;
    if (out.lift != nullptr) out.lift[place] = lift_of(low, out.unit, bound.dims);
  };
  if (t >= bound.rows) {
    put(not_a_candidate(), 0);
    return;
  }
  const auto row_term_of = [&](std::size_t which) {
    return __ldg(bound.train_terms.data + which * bound.train_terms.stride + t);
  };
  if (bound.exact) {
    const float half_norm = row_term_of(spi::half_norm);
    put(bound.squared ? half_norm : half_norm * 0.0f, 0);
    return;
  }
  const float norm = row_term_of(spi::norm);
  const double error =
      row_error(terms, largest, row_term_of(spi::residual), norm, row_term_of(spi::quantized_norm));
  const float least = row_low(bound.squared ? row_term_of(spi::half_norm) : 0, error);
  put(least, row_gap(terms, bound.squared ? norm : 0, error, least));
}

}  // namespace

cudaError_t find_largest_parts(const Queue& queue, const ProductBound& bound, void* scratch,
                               LargestParts* out) {
  if (bound.queries <= part_queries || bound.exact) {
    *out = {nullptr, 0};
    return cudaSuccess;
  }
  auto* const parts = static_cast<LargestOfQueries*>(scratch);
  const std::uint32_t count = std::min(divide_up(bound.queries, part_queries), most_parts);
  *out = {parts, count};
  return launch_in_turn(queue, find_largest, count, part_threads, 0, bound, parts);
}

std::size_t collect_low_scratch(const spi::CollectStep& step) {
  const std::size_t lists =
      1 + (step.bounds.low.cols > 0 ? 1 : 0) + (step.proposer == Proposer::int8 ? 1 : 0);
  return largest_bytes + std::size_t{places_of(step)} * lists * sizeof(float);
}

ProductLow low_of(const spi::CollectStep& step) {
  const auto* const low =
      reinterpret_cast<const float*>(address_of<unsigned char>(step.scratch) + largest_bytes);
  const float* const gap = step.bounds.low.cols > 0 ? low + places_of(step) : nullptr;
  const auto* const lift = reinterpret_cast<const int*>(gap ? gap : low) + places_of(step);
  return {low, gap, step.proposer == Proposer::int8 ? lift : nullptr};
}

cudaError_t collect_low(const Queue& queue, const spi::CollectStep& step) {
  const ProductBound bound = bound_of(step);
  const ProductLow to = low_of(step);
  LargestParts parts{};
  const cudaError_t found = find_largest_parts(queue, bound, address_of<void>(step.scratch), &parts);
  if (found != cudaSuccess) return found;
  return launch_in_turn(queue, compute_low, divide_up(bound.columns, terms_threads), terms_threads, 0, bound,
                        error_terms(bound), parts,
                        Out{const_cast<float*>(to.low), const_cast<float*>(to.gap), const_cast<int*>(to.lift),
                            static_cast<double>(step.unscale)});
}

}  // namespace kith::cuda
