// What becomes of the sums that tensor cores leave: each is tested where it is, and what passes is appended
// to the list of its query (findings.cuh). Of a sample nothing is appended: a lane writes the least bound of
// its rows.
//
// Of 16 queries by 8 training rows a lane has four sums: of queries lane / 4 and lane / 4 + 8, and of rows
// 2 (lane % 4) and the next.
#pragma once

#include "propose/findings.cuh"

namespace kith::cuda {

/// Of the rows of a warp what a lane needs: low [2 j + e] is of row 8 j + 2 (lane % 4) + e, NaN where there
/// is none. `from` begins at row 0 of the warp's.
template <int columns>
__device__ __forceinline__ void load_low(float (&low)[columns], const float* from, std::uint32_t lane) {
#pragma unroll
  for (int j = 0; j < columns / 2; ++j) {
    const float2 two = __ldg(reinterpret_cast<const float2*>(from) + j * 4 + lane % 4);
    low[2 * j] = two.x;
    low[2 * j + 1] = two.y;
  }
}

/// Write the least bounds of 64 rows and 8 queries, of which this quad has query `q`, a number a lane.
///   v      what is compared with the threshold, NaN where there is no row
///   place  of column 0 of the warp's in ProductLow
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

/// Find what passes of 8 queries at a time, of which this quad has query `q`. By all lanes of a warp.
///   v      what is compared with the threshold, NaN where there is no row
///   place  of column 0 of the warp's in ProductLow, and its training row `row`
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
