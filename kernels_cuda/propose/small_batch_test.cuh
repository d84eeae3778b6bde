// What passes of 32 rows that few queries were multiplied with, and where it goes: of
// collect_small_batch.cuh.
#pragma once

#include <type_traits>

#include "propose/findings.cuh"
#include "propose/product_error.cuh"

namespace kith::cuda {

/// No number is below 0, so their bits have the order of the numbers.
__device__ __forceinline__ float largest_of_warp(float value) {
#if __CUDA_ARCH__ >= 800
  return __uint_as_float(__reduce_max_sync(whole_warp, __float_as_uint(value)));
#else
  return value;
#endif
}

/// What the whole step needs beside the collection.
struct Few {
  ProductBound bound;
  ErrorTerms terms;
  std::uint32_t slabs;   // of a tile
  std::uint32_t chunks;  // of 4 KiB a slab, of all tiles
};

__device__ inline LargestOfQueries largest_of_queries(const ProductBound& bound, std::uint32_t lane) {
  const Matrix<const float>& row_terms = bound.query_terms;
  LargestOfQueries most{};
  for (std::uint32_t q = lane; q < bound.queries; q += 32) {
    const float length = row_terms.data[spi::quantized_norm * row_terms.stride + q];
    const float residual = row_terms.data[spi::residual * row_terms.stride + q];
    most.norm = fmaxf(most.norm, row_terms.data[spi::norm * row_terms.stride + q]);
    most.error = fmaxf(most.error, query_error(residual, bound.b, length));
    most.quantized_norm = fmaxf(most.quantized_norm, length);
  }
  return {largest_of_warp(most.norm), largest_of_warp(most.error), largest_of_warp(most.quantized_norm)};
}

/// What `low` of a row is made of; NaN where there is no row, as is what its terms may be. Of exact products
/// the first two mean nothing.
struct RowTerms {
  float residual, quantized_norm;
  float other;  // half_norm, or norm for inner products that are not exact

  __device__ __forceinline__ void load(const ProductBound& bound, std::uint64_t t) {
    residual = quantized_norm = other = not_a_candidate();
    if (t >= bound.rows) return;
    const float* const at = bound.train_terms.data + t;
    if (bound.exact) {
      other = __ldg(at + spi::half_norm * bound.train_terms.stride);
      return;
    }
    residual = __ldg(at + spi::residual * bound.train_terms.stride);
    quantized_norm = __ldg(at + spi::quantized_norm * bound.train_terms.stride);
    other = __ldg(at + (bound.squared ? spi::half_norm : spi::norm) * bound.train_terms.stride);
  }

  __device__ __forceinline__ float low(const Few& few, const LargestOfQueries& largest) const {
    const bool squared = few.bound.squared;
    if (few.bound.exact) return squared ? other : other * 0.0f;  // NaN where there is no row
    const double error = row_error(few.terms, largest, residual, squared ? 0 : other, quantized_norm);
    return row_low(squared ? other : 0, error);
  }
};

__device__ inline float gap_of(const Few& few, const LargestOfQueries& largest, std::uint64_t t, float low) {
  const ProductBound& bound = few.bound;
  if (t >= bound.rows || bound.exact) return 0;
  const auto row_term_of = [&](std::size_t which) {
    return __ldg(bound.train_terms.data + which * bound.train_terms.stride + t);
  };
  const float norm = row_term_of(spi::norm);
  const double error =
      row_error(few.terms, largest, row_term_of(spi::residual), norm, row_term_of(spi::quantized_norm));
  return row_gap(few.terms, bound.squared ? norm : 0, error, low);
}

/// Of 32 rows: sum [i][j][e] is of row 16 i + 8 (e / 2) + lane / 4 and query 8 j + 2 (lane % 4) + e % 2. Sums
/// of halves are float, of bytes int.
template <class Sum, int across>
using Sums = Sum[2][across][4];

/// What sums are tested with: the threshold of pair 2 j + e is of query 8 j + 2 (lane % 4) + e, NaN where
/// there is none.
template <int across>
struct Limits {
  float threshold[2 * across];
  float minus_unscale;

  __device__ __forceinline__ Limits(const HalfCollection& collection, std::uint32_t lane)
      : minus_unscale(-collection.unscale) {
#pragma unroll
    for (int pair = 0; pair < 2 * across; ++pair) {
      const std::uint32_t q = pair / 2 * 8 + lane % 4 * 2 + pair % 2;
      threshold[pair] = q < collection.rows ? collection.threshold.data[q * collection.threshold.stride]
                                            : not_a_candidate();
    }
  }
};

/// What each of 32 lanes has of a row of its own, as number i of row 8 i + lane / 4.
__device__ __forceinline__ void spread(float (&to)[4], float of_lane, std::uint32_t lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = __shfl_sync(whole_warp, of_lane, 8 * i + lane / 4);
}

/// How far bounds are apart, from the terms of the row, which are no longer in registers by then.
struct GapOfRow {
  const Few* few;
  LargestOfQueries largest;

  __device__ __forceinline__ float of(const HalfCollection& collection, const Finding& found) const {
    if (collection.out.low.data == nullptr) return 0;
    const std::uint64_t t = found.row - collection.first_row;
    RowTerms row_terms;
    row_terms.load(few->bound, t);
    return gap_of(*few, largest, t, row_terms.low(*few, largest));
  }
};

/// Write the least bounds of 16 rows each, of 32.
///   v      [8 across]  of pair p and row 8 i + lane / 4 in place 4 p + i, NaN where there is none. Pair
///          2 j + e is of query 8 j + 2 (lane % 4) + e
///   place  of the first row in the step
template <int values>
__device__ __forceinline__ void put_sample_of_group(const HalfCollection& collection,
                                                    const float (&v)[values], const float (&gap)[4],
                                                    std::uint32_t place, std::uint32_t lane) {
#pragma unroll
  for (std::uint32_t pair = 0; pair < values / 4; ++pair) {
    float least = no_high();
#pragma unroll
    for (int i = 0; i < 4; ++i) least = least_high(least, v[4 * pair + i], gap[i]);
    // Of four lanes, lane / 4 of which are together 0 to 3 or 4 to 7: 16 rows.
    least = fminf(least, __shfl_xor_sync(whole_warp, least, 4));
    least = fminf(least, __shfl_xor_sync(whole_warp, least, 8));
    const std::uint32_t q = pair / 2 * 8 + lane % 4 * 2 + pair % 2;
    if (q < collection.rows && lane % 16 < 4)
      collection.sample.data[q * collection.sample.stride + place / spi::sample_rows + lane / 16] =
          ordered_bits(least);
  }
  __syncwarp();
}

/// Find what passes of 32 rows, of which the first is `row`; v as above.
template <int values>
__device__ __forceinline__ void find_near(Findings<GapOfRow>& findings, const HalfCollection& collection,
                                          const float (&v)[values], const float (&threshold)[values / 4],
                                          std::uint32_t row, std::uint32_t lane) {
  using Mask = std::conditional_t<(values > 32), std::uint64_t, std::uint32_t>;
  Mask pending = 0;
#pragma unroll
  for (int i = 0; i < values; ++i)
    if (v[i] <= threshold[i / 4]) pending |= Mask{1} << i;
  while (__any_sync(whole_warp, pending != 0)) {
    const auto i = static_cast<std::uint32_t>(__ffsll(static_cast<long long>(pending))) - 1;
    const std::uint32_t pair = i / 4 % (values / 4), q = pair / 2 * 8 + lane % 4 * 2 + pair % 2;
    findings.add(collection, pending != 0, {q, 0, row + i % 4 * 8 + lane / 4, pick<0, values>(v, i)});
    pending &= pending - 1;
  }
}

/// Test 32 rows; lane l has `low` of row t0 + l. Afterwards sums mean nothing.
///   place  of row t0 in the step
template <bool sample, class Sum, int across>
__device__ __forceinline__ void test_group(Findings<GapOfRow>& findings, const HalfCollection& collection,
                                           const Few& few, const LargestOfQueries& largest,
                                           const Sums<Sum, across>& sums, const Limits<across>& limits,
                                           float low, std::uint32_t t0, std::uint32_t place,
                                           std::uint32_t lane) {
  float lows[4], v[8 * across];
  spread(lows, low, lane);
  bool near = false;
#pragma unroll
  for (int pair = 0; pair < 2 * across; ++pair)
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const auto sum = static_cast<float>(sums[i / 2][pair / 2][i % 2 * 2 + pair % 2]);
      v[4 * pair + i] = __fmaf_rn(limits.minus_unscale, sum, lows[i]);
      near |= v[4 * pair + i] <= limits.threshold[pair];
    }
  if constexpr (sample) {
    float gaps[4];
    spread(gaps, gap_of(few, largest, std::uint64_t{t0} + lane, low), lane);
    put_sample_of_group(collection, v, gaps, place, lane);
  } else if (__any_sync(whole_warp, near)) {
    find_near(findings, collection, v, limits.threshold, collection.first_row + t0, lane);
  }
}

}  // namespace kith::cuda
