// What passes of 32 rows that few queries were multiplied with, and where it goes: of collect_few.cuh.
#pragma once

#include "candidates.cuh"
#include "product_error.cuh"

namespace kith::cuda {

__device__ __forceinline__ std::uint32_t any_bits_of_warp(std::uint32_t bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(whole_warp, bits);
#else
  return bits;  // multiply() traps
#endif
}

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
  const Matrix<const float>& facts = bound.query_facts;
  LargestOfQueries most{};
  for (std::uint32_t q = lane; q < bound.queries; q += 32) {
    const float length = facts.data[fact::shadow_norm * facts.stride + q];
    const float residual = facts.data[fact::residual * facts.stride + q];
    most.norm = fmaxf(most.norm, facts.data[fact::norm * facts.stride + q]);
    most.error = fmaxf(most.error, query_error(residual, bound.b, length));
    most.shadow_norm = fmaxf(most.shadow_norm, length);
  }
  return {largest_of_warp(most.norm), largest_of_warp(most.error), largest_of_warp(most.shadow_norm)};
}

/// What `low` of a row is made of; NaN where there is no row.
struct RowFacts {
  float residual, shadow_norm;
  float other;  // half_norm, or norm for inner products

  __device__ __forceinline__ void load(const ProductBound& bound, std::uint64_t t) {
    residual = shadow_norm = other = not_a_candidate();
    if (t >= bound.rows) return;
    const float* const at = bound.train_facts.data + t;
    residual = __ldg(at + fact::residual * bound.train_facts.stride);
    shadow_norm = __ldg(at + fact::shadow_norm * bound.train_facts.stride);
    other = __ldg(at + (bound.squared ? fact::half_norm : fact::norm) * bound.train_facts.stride);
  }

  __device__ __forceinline__ float low(const Few& few, const LargestOfQueries& largest) const {
    const bool squared = few.bound.squared;
    const double error = row_error(few.terms, largest, residual, squared ? 0 : other, shadow_norm);
    return row_low(squared ? other : 0, error);
  }
};

__device__ inline float gap_of(const Few& few, const LargestOfQueries& largest, std::uint64_t t, float low) {
  const ProductBound& bound = few.bound;
  if (t >= bound.rows) return 0;
  const auto fact_of = [&](std::size_t which) {
    return __ldg(bound.train_facts.data + which * bound.train_facts.stride + t);
  };
  const float norm = fact_of(fact::norm);
  const double error =
      row_error(few.terms, largest, fact_of(fact::residual), norm, fact_of(fact::shadow_norm));
  return row_gap(bound.squared ? norm : 0, error, low);
}

/// Of 32 rows: sum [i][j][e] is of row 16 i + 8 (e / 2) + lane / 4 and query 8 j + 2 (lane % 4) + e % 2. Sums
/// of halves are float, of bytes int.
template <class Sum, int across>
using Sums = Sum[2][across][4];

/// What sums are tested with: theta of pair 2 j + e is of query 8 j + 2 (lane % 4) + e, NaN where there is
/// none.
template <int across>
struct Limits {
  float theta[2 * across];
  float minus_unscale;

  __device__ __forceinline__ Limits(const HalfCollection& collection, std::uint32_t lane)
      : minus_unscale(-collection.unscale) {
#pragma unroll
    for (int pair = 0; pair < 2 * across; ++pair) {
      const std::uint32_t q = pair / 2 * 8 + lane % 4 * 2 + pair % 2;
      theta[pair] =
          q < collection.rows ? collection.theta.data[q * collection.theta.stride] : not_a_candidate();
    }
  }
};

/// What each of 32 lanes has of a row of its own, as number i of row 8 i + lane / 4.
__device__ __forceinline__ void spread(float (&to)[4], float of_lane, std::uint32_t lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i) to[i] = __shfl_sync(whole_warp, of_lane, 8 * i + lane / 4);
}

/// Append what passes of 32 rows. Pair 2 j + e is of query 8 j + 2 (lane % 4) + e; bits of `wanted` are of
/// pairs, and the same in all lanes. First each query takes places for all of its rows: lane l for query l,
/// and for l + 32.
///   v  [pairs]  of row 8 i + lane / 4, NaN where it does not pass; only what is wanted
template <int pairs>
__device__ __forceinline__ void append_group(const BoundedLists& out, const float4 (&v)[pairs],
                                             const float (&gap)[4], std::uint32_t wanted, std::uint32_t row0,
                                             std::uint32_t lane) {
  constexpr std::uint32_t all_of_query = 0x11111111u;  // lanes of the same query: l, l + 4, l + 8, ...
  constexpr int words = pairs > 8 ? 2 : 1;
  const auto pair_behind = [](std::uint32_t& left) {
    const auto pair = static_cast<std::uint32_t>(__ffs(static_cast<int>(left))) - 1;
    left &= left - 1;
    return pair;
  };
  const auto passes = [&](std::uint32_t pair, std::uint32_t(&votes)[4], std::uint32_t lanes) {
    const float4 four = v[pair];
    const float each[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) votes[i] = __ballot_sync(whole_warp, each[i] == each[i]) & lanes;
    return four;
  };
  std::uint32_t begin[words] = {};
#pragma unroll 1
  for (std::uint32_t left = wanted; left != 0;) {
    const std::uint32_t pair = pair_behind(left);
    std::uint32_t votes[4];
    passes(pair, votes, all_of_query << lane % 8 / 2);
    const std::uint32_t count = __popc(votes[0]) + __popc(votes[1]) + __popc(votes[2]) + __popc(votes[3]);
    if (lane / 8 == pair / 2 % 4 && lane % 2 == pair % 2) begin[pair / 8 % words] = count;
  }
#pragma unroll
  for (int w = 0; w < words; ++w)
    if (begin[w] != 0)
      begin[w] = atomicAdd(out.lists.counts.data + (w * 32 + lane) * out.lists.counts.stride, begin[w]);

#pragma unroll 1
  for (std::uint32_t left = wanted; left != 0;) {
    const std::uint32_t pair = pair_behind(left), q = pair / 2 * 8 + lane % 4 * 2 + pair % 2;
    std::uint32_t votes[4];
    const float4 four = passes(pair, votes, all_of_query << lane % 4);
    const float each[4] = {four.x, four.y, four.z, four.w};
    std::uint32_t at = __shfl_sync(whole_warp, q < 32 ? begin[0] : begin[words - 1], q % 32);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t place = at + __popc(votes[i] & ((1u << lane) - 1));
      if ((votes[i] >> lane & 1) != 0 && place < out.lists.capacity)
        put_candidate(out, gap[i], q, place, row0 + 8 * i + lane / 4, each[i]);
      at += __popc(votes[i]);
    }
  }
}

/// The place of a sum becomes that of what is made of it and compared with theta.
__device__ __forceinline__ void put_compared(float& place, float v) {
  place = v;
}
__device__ __forceinline__ void put_compared(int& place, float v) {
  place = __float_as_int(v);
}
__device__ __forceinline__ float compared_at(float place) {
  return place;
}
__device__ __forceinline__ float compared_at(int place) {
  return __int_as_float(place);
}

/// Test 32 rows; lane l has `low` of row t0 + l. Afterwards sums mean nothing.
template <class Sum, int across>
__device__ __forceinline__ void test_group(const HalfCollection& collection, const Few& few,
                                           const LargestOfQueries& largest, Sums<Sum, across>& sums,
                                           const Limits<across>& limits, float low, std::uint32_t t0,
                                           std::uint32_t lane) {
  float lows[4];
  spread(lows, low, lane);
  std::uint32_t near = 0;
#pragma unroll
  for (int pair = 0; pair < 2 * across; ++pair) {
    bool some = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      Sum& sum = sums[i / 2][pair / 2][i % 2 * 2 + pair % 2];
      const float v = __fmaf_rn(limits.minus_unscale, static_cast<float>(sum), lows[i]);
      put_compared(sum, v);
      some |= v <= limits.theta[pair];
    }
    if (some) near |= 1u << pair;
  }
  const std::uint32_t wanted = any_bits_of_warp(near);
  if (wanted == 0) return;

  float4 v[2 * across];  // indexed by what is only known now: in memory of the thread
#pragma unroll
  for (int pair = 0; pair < 2 * across; ++pair) {
    const auto or_nothing = [&](int i) {
      const float place = compared_at(sums[i / 2][pair / 2][i % 2 * 2 + pair % 2]);
      return place <= limits.theta[pair] ? place : not_a_candidate();
    };
    v[pair] = {or_nothing(0), or_nothing(1), or_nothing(2), or_nothing(3)};
  }
  float gap = 0, gaps[4];
  if (collection.out.low.data != nullptr) gap = gap_of(few, largest, std::uint64_t{t0} + lane, low);
  spread(gaps, gap, lane);
  append_group(collection.out, v, gaps, wanted, collection.first_row + t0, lane);
}

}  // namespace kith::cuda
