// collect, fp16 and int8, of up to 64 queries: a stream over the shadow of the training rows.
//
//   queries [q, dims]   train [t, dims]   shadows of 16-bit floats or of bytes (kernels.hpp, HalfShape)
//   theta   [q, 1]      facts of both, [4, q] and [4, t]
//   out     [q, capacity]   training rows with bounds, in any order; counts [q, 1] grow, beyond the capacity
//   too
//
// A warp takes 4 KiB of the shadow at a time: the lines of 32 rows, 64 or 128 where lines are short. A lane
// reads whole pieces of its rows, lane / 4 of every 8, straight into registers, and the next ones into the
// same registers as soon as they have been multiplied: 128 bytes a lane are always on their way, and nothing
// else has to be fast. Training rows are the rows of a product, queries its columns, 8, 16, 32 or 64 of them,
// whose pieces are in shared memory where they fit. Which dimension meets which place of an mma does not
// matter as long as it is the same for both: half a piece, 4 halves or 8 bytes, is a lane's part of one step,
// of 16 dimensions or 32. `low` is made here, from 12 bytes of facts a row, since to write it once and read
// it again would take more. What passes in 32 rows takes places with one addition a query. Work: the shadow
// and three facts, read once; q / 8 mma for 16 rows and 32 bytes of each. No barrier but one. Source:
// docs/certificate.md, sections 3 and 4.
#pragma once

#include <cuda_pipeline.h>

#include <type_traits>

#include "candidates.cuh"
#include "mma.cuh"
#include "product_error.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t threads = 128, warps = threads / 32;
inline constexpr std::uint32_t group_rows = 32;  // tested at once: two products, or four times 8 rows
inline constexpr std::size_t most_shared = 96 * 1024;

/// Blocks of a multiprocessor, as its registers allow.
constexpr int blocks_at_once(int across) {
  return across == 1 ? 5 : across <= 4 ? 4 : 3;
}

/// Lines of so many pieces.
template <int pieces>
struct Line {
  using Piece = std::conditional_t<pieces == 2, uint2, uint4>;    // what a lane takes of a row
  static constexpr int parts = pieces == 8 ? 2 : 1;               // of a line, each 4 lanes long
  static constexpr int groups = 8 / pieces;                       // in 4 KiB
  static constexpr std::uint32_t rows = groups * group_rows;      // likewise
  static constexpr std::uint32_t chunks = tile_of_halves / rows;  // of 4 KiB, of a tile
  static constexpr std::uint32_t slab = tile_of_halves * pieces * (sizeof(uint4) / sizeof(Piece));
  static constexpr std::uint32_t chunk = slab / chunks;

  /// Where a lane finds what it takes of row 8 i + lane / 4, counted in Piece.
  static __device__ __forceinline__ std::uint32_t place_of(std::uint32_t i, std::uint32_t part,
                                                           std::uint32_t lane) {
    const std::uint32_t row = 8 * i + lane / 4, turn = lane / 4 * pieces / 8, at = lane % 4;
    if constexpr (pieces == 2) return (row * pieces + (at / 2 ^ turn)) * 2 + at % 2;
    return row * pieces + ((4 * part + at) ^ turn);
  }
};

__device__ __forceinline__ uint4 read_once(const uint4* from) {
  uint4 to = {};
#if __CUDA_ARCH__ >= 800
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v4.u32 {%0,%1,%2,%3}, [%4];"
               : "=r"(to.x), "=r"(to.y), "=r"(to.z), "=r"(to.w)
               : "l"(__cvta_generic_to_global(from)));
#endif
  return to;
}

__device__ __forceinline__ uint2 read_once(const uint2* from) {
  uint2 to = {};
#if __CUDA_ARCH__ >= 800
  asm volatile("ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%0,%1}, [%2];"
               : "=r"(to.x), "=r"(to.y)
               : "l"(__cvta_generic_to_global(from)));
#endif
  return to;
}

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

/// Of 8 rows above 8 others: both steps of a lane's pieces of them, or the only one.
template <class Sum>
__device__ __forceinline__ void multiply_pieces(Sum (&sums)[4], const uint4& upper, const uint4& lower,
                                                const uint4& query) {
  multiply(sums, {upper.x, lower.x, upper.y, lower.y}, query.x, query.y);
  multiply(sums, {upper.z, lower.z, upper.w, lower.w}, query.z, query.w);
}

template <class Sum>
__device__ __forceinline__ void multiply_pieces(Sum (&sums)[4], const uint2& upper, const uint2& lower,
                                                const uint2& query) {
  multiply(sums, {upper.x, lower.x, upper.y, lower.y}, query.x, query.y);
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

/// The chunks of a warp, slab by slab, one after another. Behind the last it stays where it is.
template <int pieces>
struct Cursor {
  using Of = Line<pieces>;
  const typename Of::Piece* from = nullptr;
  std::uint32_t t0 = 0;  // first row
  std::uint32_t slab = 0;
  std::uint32_t chunk;

  /// Find the first chunk, from `chunk` on, of which there are rows.
  __device__ __forceinline__ bool seek(const HalfCollection& collection, const Few& few) {
    const std::uint32_t step = gridDim.x * warps;
    for (; chunk < few.chunks; chunk += step) {
      const std::uint64_t tile = row_of_tile(collection.tiles, chunk / Of::chunks);
      const std::uint64_t first = tile + chunk % Of::chunks * Of::rows;
      if (first >= collection.train_rows) continue;
      t0 = static_cast<std::uint32_t>(first);
      from = static_cast<const typename Of::Piece*>(collection.train) +
             tile / tile_of_halves * few.slabs * Of::slab + chunk % Of::chunks * Of::chunk;
      return true;
    }
    return false;
  }

  __device__ __forceinline__ bool advance(const HalfCollection& collection, const Few& few) {
    if (slab + 1 < few.slabs) {
      ++slab;
      from += Of::slab;
      return true;
    }
    chunk += gridDim.x * warps;
    const bool more = seek(collection, few);
    if (more) slab = 0;
    return more;
  }
};

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

/// Begin to copy what lanes take of the queries: [slabs, parts, across, 32].
template <int pieces, int across>
__device__ __forceinline__ void stage_queries(typename Line<pieces>::Piece* to,
                                              const typename Line<pieces>::Piece* queries,
                                              std::uint32_t slabs) {
  using Of = Line<pieces>;
  for (std::uint32_t i = threadIdx.x; i < slabs * Of::parts * across * 32; i += threads) {
    const std::uint32_t part = i / 32 / across;
    const std::uint32_t from =
        part / Of::parts * Of::slab + Of::place_of(i / 32 % across, part % Of::parts, i % 32);
    __pipeline_memcpy_async(to + i, queries + from, sizeof(*to));
  }
  __pipeline_commit();
}

/// Warp w of all takes chunks w, w + warps, ...
template <class Sum, int pieces, int across, bool resident>
__global__ __launch_bounds__(threads,
                             blocks_at_once(across)) void collect_few(const HalfCollection collection,
                                                                      const Few few) {
  using Of = Line<pieces>;
  using Piece = typename Of::Piece;
  extern __shared__ uint4 memory[];
  auto* const staged = reinterpret_cast<Piece*>(memory);
  const auto* const queries = static_cast<const Piece*>(collection.queries);
  const std::uint32_t lane = threadIdx.x % 32, slabs = pieces == 8 ? few.slabs : 1;

  Cursor<pieces> next;
  next.chunk = blockIdx.x * warps + threadIdx.x / 32;
  bool more = next.seek(collection, few);
  Piece train[Of::groups][Of::parts][4];
  RowFacts facts[Of::groups];
  if (more) {
#pragma unroll
    for (int s = 0; s < Of::groups; ++s) {
#pragma unroll
      for (int part = 0; part < Of::parts; ++part)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          train[s][part][i] = read_once(next.from + Of::place_of(4 * s + i, part, lane));
      facts[s].load(few.bound, std::uint64_t{next.t0} + s * group_rows + lane);
    }
  }
  if constexpr (resident) stage_queries<pieces, across>(staged, queries, slabs);
  const LargestOfQueries largest = largest_of_queries(few.bound, lane);
  const Limits<across> limits(collection, lane);
  if constexpr (resident) {
    __pipeline_wait_prior(0);
    __syncthreads();
  }

  float low[Of::groups];
  Sums<Sum, across> sums;
  while (more) {
    const std::uint32_t t0 = next.t0, slab = pieces == 8 ? next.slab : 0;
    if (slab == 0)
#pragma unroll
      for (int s = 0; s < Of::groups; ++s) low[s] = facts[s].low(few, largest);
    more = next.advance(collection, few);
    if (pieces != 8 || next.slab == 0)
#pragma unroll
      for (int s = 0; s < Of::groups; ++s)
        facts[s].load(few.bound, std::uint64_t{next.t0} + s * group_rows + lane);
#pragma unroll
    for (int s = 0; s < Of::groups; ++s) {
      if (slab == 0)
#pragma unroll
        for (int j = 0; j < across; ++j)
#pragma unroll
          for (int e = 0; e < 4; ++e) sums[0][j][e] = sums[1][j][e] = 0;
#pragma unroll
      for (int part = 0; part < Of::parts; ++part) {
#pragma unroll
        for (int j = 0; j < across; ++j) {
          const Piece query =
              resident ? staged[((slab * Of::parts + part) * across + j) * 32 + lane]
                       : __ldg(queries + std::size_t{slab} * Of::slab + Of::place_of(j, part, lane));
#pragma unroll
          for (int i = 0; i < 2; ++i)
            multiply_pieces(sums[i][j], train[s][part][2 * i], train[s][part][2 * i + 1], query);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i)  // behind the last chunk some of it again, which is cheaper than to ask
          train[s][part][i] = read_once(next.from + Of::place_of(4 * s + i, part, lane));
      }
      if (slab + 1 == slabs)
        test_group<Sum, across>(collection, few, largest, sums, limits, low[s], t0 + s * group_rows, lane);
    }
  }
}

template <class Sum, int pieces, int across>
cudaError_t launch_few(const Queue& queue, const HalfCollection& collection, const Few& few) {
  const std::size_t wanted = std::size_t{few.slabs} * pieces * across * 8 * sizeof(uint4);
  const bool resident = wanted <= most_shared;
  const std::size_t shared = resident ? wanted : 0;
  // As many blocks as a multiprocessor runs at once: 200 KiB of shared memory, and registers.
  const std::size_t most = blocks_at_once(across), room = 200 * 1024 / std::max<std::size_t>(shared, 1);
  const std::uint64_t at_once = std::min(most, room) * queue.multiprocessors;
  auto* kernel = collect_few<Sum, pieces, across, true>;
  if constexpr (pieces == 8)
    if (!resident) kernel = collect_few<Sum, pieces, across, false>;
  return launch(queue, kernel, std::min<std::uint64_t>(divide_up(few.chunks, warps), at_once), threads,
                shared, collection, few);
}

template <class Sum, int pieces>
cudaError_t launch_few(const Queue& queue, const HalfCollection& collection, Few few) {
  few.chunks = divide_up(collection.columns, tile_of_halves) * Line<pieces>::chunks;
  if (collection.rows <= 8) return launch_few<Sum, pieces, 1>(queue, collection, few);
  if (collection.rows <= 16) return launch_few<Sum, pieces, 2>(queue, collection, few);
  if (collection.rows <= 32) return launch_few<Sum, pieces, 4>(queue, collection, few);
  return launch_few<Sum, pieces, 8>(queue, collection, few);
}

/// `bound.b` is of products of this order.
template <class Sum>
cudaError_t launch_few(const Queue& queue, const HalfCollection& collection, const ProductBound& bound,
                       const HalfShape& shape) {
  const Few few{bound, error_terms(bound.squared, bound.dims), shape.slabs, 0};
  if (shape.pieces == 2) return launch_few<Sum, 2>(queue, collection, few);
  return shape.pieces == 4 ? launch_few<Sum, 4>(queue, collection, few)
                           : launch_few<Sum, 8>(queue, collection, few);
}

}  // namespace kith::cuda
