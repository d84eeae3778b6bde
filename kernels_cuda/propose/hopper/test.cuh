// What warps do with tiles in collect_hopper.cu and wide.cuh: products of a slab, and the test of sums.
// No twin in kernels_cl: the OpenCL back end multiplies by mma.sync alone.
#pragma once

#include <type_traits>

#include "propose/append_fp16.cuh"
#include "propose/hopper/fragments.cuh"
#include "propose/hopper/instructions.cuh"
#include "propose/hopper/tiles.cuh"
#include "propose/lifted.cuh"

namespace kith::cuda {

/// The limits for the sums of the two queries of a lane: of[i] belongs to query q0 + 8 i.
template <bool lifted>
struct Limits {
  __device__ __forceinline__ Limits(const HalfCollection& collection, std::uint32_t q0) {
#pragma unroll
    for (std::uint32_t i = 0; i < 2; ++i) {
      const float threshold = q0 + 8 * i < collection.rows
                                  ? collection.threshold.data[(q0 + 8 * i) * collection.threshold.stride]
                                  : not_a_candidate();
      if constexpr (lifted)
        of[i] = floor_of(threshold, static_cast<double>(collection.unscale), collection.dims);
      else
        of[i] = threshold;
    }
  }

  // The least lifted sum that passes, or the threshold, which is NaN if there is no query.
  std::conditional_t<lifted, int, float> of[2];
};

/// Where in the step the sums of a lane belong. `q` is the first of its two queries, `place` that of the
/// first row, which is *row.
struct Spot {
  std::uint32_t q, place;
  const std::uint32_t* row;
  std::uint32_t lane;
};

constexpr int columns_at_once = fragment_sums, rows_at_once = 64, parts_of_tile = tile_rows / rows_at_once,
              sums_of_tile = parts_of_tile * 2 * columns_at_once;

/// Returns sum c of the 16 that a lane has for query h, one of its two, in part `part` of the tile.
template <class Sums>
__device__ __forceinline__ auto& sum_at(Sums& sums, int part, int h, int c) {
  return sums[part * 32 + c / 2 * 4 + 2 * h + c % 2];
}

/// Writes the sums of a lane where some passes.
///   passes(part, h)  whether some of query h, one of its two, by the 64 rows of part `part` passes
template <class Sum, class Passes>
__device__ __forceinline__ void put_sums(FragmentWriter& found, const Spot& spot, const Sum (&limits)[2],
                                         const Sum (&sums)[sums_of_tile], Passes passes) {
  bool has[2 * parts_of_tile], some = false;
#pragma unroll
  for (int p = 0; p < 2 * parts_of_tile; ++p) {
    has[p] = passes(p / 2, p % 2);
    some = some || has[p];
  }
  if (!__any_sync(whole_warp, some)) return;
  const std::uint32_t row = *spot.row;
  found.put(has, [&](int p, Fragment& to) {
    const std::uint32_t column = p / 2 * rows_at_once + spot.lane % 4 * 2;
    Sum these[fragment_sums];
#pragma unroll
    for (int c = 0; c < columns_at_once; ++c) these[c] = sum_at(sums, p / 2, p % 2, c);
    to.set(spot.q + p % 2 * 8, spot.place + column, row + column, limits[p % 2], these);
  });
}

/// Reads `low` of the 16 rows that a lane tests, out of the 64 rows of a part of the tile.
template <class Low>
__device__ __forceinline__ void read_low(Low (&low_of)[columns_at_once], const float* low, int part,
                                         std::uint32_t lane) {
  struct alignas(8) Two {
    Low x, y;
  };
#pragma unroll
  for (int j = 0; j < columns_at_once / 2; ++j) {
    const Two two = reinterpret_cast<const Two*>(low + part * rows_at_once)[j * 4 + lane % 4];
    low_of[2 * j] = two.x;
    low_of[2 * j + 1] = two.y;
  }
}

/// A finding of bytes stores the lifted sum in the place of `low`. append() turns it into the value that is
/// compared with the threshold, so that the warps that multiply do not wait for memory.
struct SumOfPlace : GapOfPlace {};

__device__ __forceinline__ bool passes(const SumOfPlace&, const HalfCollection& collection, Finding& found) {
  if (found.query >= collection.rows) return false;
  const int sum = __float_as_int(found.low) - __ldg(collection.from.lift + found.place);
  found.low =
      __fmaf_rn(-collection.unscale, static_cast<float>(sum), __ldg(collection.from.low + found.place));
  return found.low <= collection.threshold.data[found.query * collection.threshold.stride];
}

constexpr int chains = 4;  // so that no comparison waits for the one before

/// Sets each sum to the lift of its row. Products are then added, so that one comparison with `floor` tests
/// the sum.
__device__ __forceinline__ void start_from(int (&sums)[sums_of_tile], const float* lifts,
                                           std::uint32_t lane) {
#pragma unroll
  for (int part = 0; part < parts_of_tile; ++part) {
    int lift[columns_at_once];
    read_low(lift, lifts, part, lane);
#pragma unroll
    for (int c = 0; c < columns_at_once; ++c) sum_at(sums, part, 0, c) = sum_at(sums, part, 1, c) = lift[c];
  }
}

/// Tests the lifted sums of the 16 queries of this warp at once: one vote tells whether any reaches
/// its limit.
__device__ __forceinline__ void test_lifted(FragmentWriter& found, const int (&sums)[sums_of_tile],
                                            const Limits<true>& limits, const Spot& spot) {
  int most[parts_of_tile][2];
#pragma unroll
  for (int part = 0; part < parts_of_tile; ++part) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      int of[chains];
#pragma unroll
      for (int c = 0; c < chains; ++c) of[c] = sum_at(sums, part, h, c);
#pragma unroll
      for (int c = chains; c < columns_at_once; c += 2) {
        int& chain = of[c / 2 % chains];
        chain = __vimax3_s32(chain, sum_at(sums, part, h, c), sum_at(sums, part, h, c + 1));
      }
      most[part][h] = max(__vimax3_s32(of[0], of[1], of[2]), of[3]);
    }
  }
  put_sums(found, spot, limits.of, sums, [&](int part, int h) { return most[part][h] >= limits.of[h]; });
}

/// Computes, from 16 sums of a query, the values that are compared with the threshold.
template <class Sum>
__device__ __forceinline__ void compare_with(float (&v)[columns_at_once], const HalfCollection& collection,
                                             const Sum (&sums)[sums_of_tile],
                                             const float (&low)[columns_at_once], int part, int h) {
#pragma unroll
  for (int c = 0; c < columns_at_once; ++c)
    v[c] = value_of(collection, static_cast<float>(sum_at(sums, part, h, c)), low[c]);
}

/// Tests sums by the values that are compared with the threshold, or writes a sample of these values.
///   low  belongs to the rows of the tile
template <bool sample, class Sum>
__device__ __forceinline__ void test_sums(FragmentWriter& found, const HalfCollection& collection,
                                          const Sum (&sums)[sums_of_tile], const float* low,
                                          const Limits<false>& limits, const Spot& spot) {
  const std::uint32_t lane = spot.lane;
  float least[parts_of_tile][2];
#pragma unroll
  for (int part = 0; part < parts_of_tile; ++part) {
    float low_of[columns_at_once], v[columns_at_once];
    read_low(low_of, low, part, lane);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      compare_with(v, collection, sums, low_of, part, h);
      if constexpr (sample) {
        put_sample(collection, v, spot.q + 8 * h, spot.place + part * rows_at_once, lane);
        continue;
      }
      float of[chains] = {v[0], v[1], v[2], v[3]};
#pragma unroll
      for (int c = chains; c < columns_at_once; ++c) of[c % chains] = fminf(of[c % chains], v[c]);
      least[part][h] = fminf(fminf(of[0], of[1]), fminf(of[2], of[3]));
    }
  }
  if constexpr (!sample)
    put_sums(found, spot, limits.of, sums, [&](int part, int h) { return least[part][h] <= limits.of[h]; });
}

/// Returns the values that sums are tested with, one per place. They are floats, or ints in memory typed
/// as floats.
template <bool lifted>
__device__ __forceinline__ const float* lows_of(const HalfCollection& collection) {
  return lifted ? reinterpret_cast<const float*>(collection.from.lift) : collection.from.low;
}

/// Adds `steps` times 32 bytes of the rows to the sums of 64 queries. steps is at most most_steps; no branch
/// lies between the products.
template <std::uint32_t most_steps, class Sum>
__device__ __forceinline__ void multiply_slab(Sum (&sums)[sums_of_tile], std::uint64_t a, std::uint64_t b,
                                              bool add, std::uint32_t steps) {
  if constexpr (most_steps > 1) {
    if (steps < most_steps) {
      multiply_slab<most_steps - 1>(sums, a, b, add, steps);
      return;
    }
  }
  hopper::begin_products();
#pragma unroll
  for (std::uint32_t step = 0; step < most_steps; ++step)
    hopper::multiply(sums, a + step * 2, b + step * 2, add || step != 0);  // advances by 32 bytes
  hopper::commit_products();
}

/// Warp `number` of those that append takes what every append_warps-th warp that multiplies has found.
template <class Sum>
__device__ __forceinline__ void append_found(const HalfCollection& collection, FragmentRing* rings,
                                             Finding* buffer, std::uint32_t number, std::uint32_t warps) {
  using Tested = std::conditional_t<std::is_same_v<Sum, int>, SumOfPlace, GapOfPlace>;
  const std::uint32_t lane = threadIdx.x % 32;
  Findings<Tested, append_each> findings(buffer, lane);
  append_fragments<Sum>(findings, collection, rings, number, append_warps, warps, lane);
}

}  // namespace kith::cuda
