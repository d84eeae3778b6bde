// Tests the sums that tensor cores compute, in the lanes that hold them, and appends what passes to the
// list of its query (findings.cuh). For a sample nothing is appended: each lane writes the least bound of
// its rows.
//
// Of 16 queries by 8 training rows a lane has four sums: those of queries lane / 4 and lane / 4 + 8 with rows
// 2 (lane % 4) and 2 (lane % 4) + 1.
#pragma once

#include "propose/findings.cuh"

namespace kith::cuda {

/// Loads those values of the warp's rows that this lane needs: low[2 j + e] belongs to row 8 j + 2 (lane % 4)
/// + e, and is NaN if there is no such row. `from` begins at the warp's row 0.
template <int columns>
__device__ __forceinline__ void load_low(float (&low)[columns], const float* from, std::uint32_t lane) {
#pragma unroll
  for (int j = 0; j < columns / 2; ++j) {
    const float2 two = __ldg(reinterpret_cast<const float2*>(from) + j * 4 + lane % 4);
    low[2 * j] = two.x;
    low[2 * j + 1] = two.y;
  }
}

/// Writes the least bounds of 64 rows for 8 queries, one number per lane. Each four lanes have one
/// query, `q`.
///   v      values that are compared with the threshold; NaN if there is no row
///   place  place of the warp's column 0 in ProductLow
__device__ __forceinline__ void put_sample(const HalfCollection& collection,
                                           const float (&v)[spi::sample_rows], std::uint32_t q,
                                           std::uint32_t place, std::uint32_t lane) {
  if (q >= collection.rows) return;
  float gap[spi::sample_rows];
  load_low(gap, collection.from.gap + place, lane);
  float least = no_high();
#pragma unroll
  for (std::uint32_t i = 0; i < spi::sample_rows; ++i) least = least_high(least, v[i], gap[i]);
  collection.sample.data[q * collection.sample.stride + place / spi::sample_rows + lane % 4] =
      ordered_bits(least);
}

/// Finds the values that pass, for 8 queries at a time. Each four lanes have one query, `q`. All lanes of a
/// warp call this.
///   v      values that are compared with the threshold; NaN if there is no row
///   place  place of the warp's column 0 in ProductLow; `row` is its training row
template <int columns, class Gap>
__device__ __forceinline__ void find_near(Findings<Gap>& findings, const HalfCollection& collection,
                                          const float (&v)[columns], float threshold, std::uint32_t q,
                                          std::uint32_t place, std::uint32_t row, std::uint32_t lane) {
  static_assert(columns <= 32);
  std::uint32_t pending = 0;
#pragma unroll
  for (int i = 0; i < columns; ++i)
    if (v[i] <= threshold) pending |= 1u << i;
  while (__any_sync(whole_warp, pending != 0)) {
    const auto i = static_cast<std::uint32_t>(__ffs(static_cast<int>(pending))) - 1;
    const std::uint32_t column = i / 2 * 8 + lane % 4 * 2 + i % 2;
    findings.add(collection, pending != 0, {q, place + column, row + column, pick<0, columns>(v, i)});
    pending &= pending - 1;
  }
}

}  // namespace kith::cuda
