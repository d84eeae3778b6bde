// Tests the products of few queries with 32 rows, and writes what passes; a part of collect_small_batch.cuh.
#pragma once

#include <type_traits>

#include "propose/findings.cuh"
#include "propose/product_error.cuh"

namespace kith::cuda {

/// Returns the largest value. No value is negative, so the order of the bits is that of the numbers.
__device__ __forceinline__ float largest_of_warp(float value) {
#if __CUDA_ARCH__ >= 800
  return __uint_as_float(__reduce_max_sync(whole_warp, __float_as_uint(value)));
#else
  return value;
#endif
}

/// Where the terms of row 0 are that `low` is computed from.
struct RowTermsAt {
  const float *residual, *quantized_norm, *other;

  explicit RowTermsAt(const ProductBound& bound)
      : residual(bound.train_terms.data + spi::residual * bound.train_terms.stride),
        quantized_norm(bound.train_terms.data + spi::quantized_norm * bound.train_terms.stride),
        other(bound.train_terms.data +
              (bound.squared || bound.exact ? spi::half_norm : spi::norm) * bound.train_terms.stride) {}
};

/// Values that the whole step needs in addition to the collection.
struct Few {
  ProductBound bound;
  RowTermsAt row_terms;
  ErrorTerms terms;
  std::uint32_t slabs;   // number of slabs of a tile
  HalfShape queries;     // the lines of queries
  std::uint32_t chunks;  // number of chunks of all tiles, each with 4 KiB per slab
  Walk::Step step;       // from a chunk of a warp to its next
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

/// The terms that `low` of a row is computed from. They are NaN if there is no row, and may be NaN otherwise.
/// For exact products the first two are not used.
struct RowTerms {
  float residual, quantized_norm;
  float other;  // half_norm, or norm for inner products that are not exact

  __device__ __forceinline__ void load(const Few& few, std::uint64_t t) {
    residual = quantized_norm = other = not_a_candidate();
    if (t >= few.bound.rows) return;
    other = __ldg(few.row_terms.other + t);
    if (few.bound.exact) return;
    residual = __ldg(few.row_terms.residual + t);
    quantized_norm = __ldg(few.row_terms.quantized_norm + t);
  }

  __device__ __forceinline__ float low(const Few& few, const LargestOfQueries& largest) const {
    const bool squared = few.bound.squared;
    if (few.bound.exact) return squared ? other : other * 0.0f;  // NaN if there is no row
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

/// The sums of 32 rows: sums[i][j][e] belongs to row 16 i + 8 (e / 2) + lane / 4 and query 8 j + 2 (lane % 4)
/// + e % 2. Sums are float for halves and int for bytes.
template <class Sum, int across>
using Sums = Sum[2][across][4];

/// The limits for sums: threshold[2 j + e] belongs to query 8 j + 2 (lane % 4) + e, and is NaN if there
/// is none.
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

/// Gives each lane, as to[i], the value that lane 8 i + lane / 4 has for its own row.
__device__ __forceinline__ void spread(float (&to)[4], float of_lane, std::uint32_t lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = __shfl_sync(whole_warp, of_lane, 8 * i + lane / 4);
}

/// Computes the gap between the bounds from the terms of the row, which are read again.
struct GapOfRow {
  const Few* few;
  LargestOfQueries largest;

  __device__ __forceinline__ float of(const HalfCollection& collection, const Finding& found) const {
    if (collection.out.low.data == nullptr) return 0;
    const std::uint64_t t = found.row - collection.first_row;
    RowTerms row_terms;
    row_terms.load(*few, t);
    return gap_of(*few, largest, t, row_terms.low(*few, largest));
  }
};

template <>
inline constexpr bool has_few_queries<GapOfRow> = true;

/// Writes the least bounds of each 16 of 32 rows.
///   v      [8 across]  v[4 p + i] belongs to pair p and row 8 i + lane / 4, and is NaN if there is none;
///                      pair 2 j + e is query 8 j + 2 (lane % 4) + e
///   place  place of the first row in the step
template <int values>
__device__ __forceinline__ void put_sample_of_group(const HalfCollection& collection,
                                                    const float (&v)[values], const float (&gap)[4],
                                                    std::uint32_t place, std::uint32_t lane) {
#pragma unroll
  for (std::uint32_t pair = 0; pair < values / 4; ++pair) {
    float least = no_high();
#pragma unroll
    for (int i = 0; i < 4; ++i) least = least_high(least, v[4 * pair + i], gap[i]);
    // Four lanes whose lane / 4 is 0 to 3, or 4 to 7, hold 16 rows together.
    least = fminf(least, __shfl_xor_sync(whole_warp, least, 4));
    least = fminf(least, __shfl_xor_sync(whole_warp, least, 8));
    const std::uint32_t q = pair / 2 * 8 + lane % 4 * 2 + pair % 2;
    if (q < collection.rows && lane % 16 < 4)
      collection.sample.data[q * collection.sample.stride + place / spi::sample_rows + lane / 16] =
          ordered_bits(least);
  }
  __syncwarp();
}

/// Finds what passes of 32 rows, the first of which is `row`; v as above.
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

/// Tests 32 rows; lane l has `low` of row t0 + l. The sums are undefined afterwards.
///   place  place of row t0 in the step
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
