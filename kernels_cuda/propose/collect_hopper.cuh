// The parts of collect for compute capability 9.0 (collect_hopper.cu): how a block divides its memory and its
// tiles, the warp that copies, and the test of sums.
// No twin in kernels_cl: the OpenCL back end multiplies by mma.sync alone.
#pragma once

#include <type_traits>

#include "common/hopper.cuh"
#include "propose/append_fp16.cuh"
#include "propose/collect_fp16.cuh"
#include "propose/lifted.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t groups = 4, group_threads = 128, group_warps = group_threads / 32;
inline constexpr std::uint32_t tile_rows = tile_of_halves, group_queries = 64;
inline constexpr std::uint32_t block_queries = groups * group_queries,
                               query_slabs = block_queries / tile_rows;
inline constexpr std::uint32_t resident_slabs = 4;  // with more, no tile would fit beside them
inline constexpr std::uint32_t most_stages = 16;
inline constexpr std::uint32_t alignment = 1024;  // eight lines of 128 bytes form a swizzle pattern

/// The part of shared memory behind queries and stages.
struct Rest {
  Finding found[groups * group_warps][findings_of_warp];
  float low[most_stages + 1][tile_rows];  // `low`, or lifts, of successive tiles
  hopper::Barrier full[most_stages], empty[most_stages], queries, turn[groups];
};

/// The sizes, in bytes, of the parts of shared memory, in this order after its alignment.
struct Memory {
  std::uint32_t slab;     // size for 128 rows
  std::uint32_t queries;  // size of the resident queries
  std::uint32_t stage;
  std::uint32_t stages;
  std::uint32_t bytes;
};

template <bool resident>
__host__ __device__ Memory memory_of(std::uint32_t line_bytes, std::uint32_t slabs) {
  Memory memory{};
  memory.slab = tile_rows * line_bytes;
  memory.queries = resident ? query_slabs * slabs * memory.slab : 0;
  memory.stage = memory.slab * (resident ? 1 : 1 + query_slabs);
  const auto rest = static_cast<std::uint32_t>(sizeof(Rest));
  const std::uint32_t room = hopper_shared_bytes - alignment - rest - memory.queries;
  memory.stages = room / memory.stage < most_stages ? room / memory.stage : most_stages;
  memory.bytes = alignment + memory.queries + memory.stages * memory.stage + rest;
  return memory;
}

/// A stage of the ring, and the parity of how often the ring has been passed.
struct Place {
  std::uint32_t stage = 0, parity = 0;

  __device__ __forceinline__ void next(std::uint32_t stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

/// The place of a tile's `low` in Rest. The thread that copies is at most `stages` tiles ahead of the warps
/// that test, which have then released their slabs, so one place more than stages is enough.
struct LowPlace {
  std::uint32_t at = 0;

  __device__ __forceinline__ void next(std::uint32_t stages) { at = at == stages ? 0 : at + 1; }
};

/// The `count` tiles that a block takes. Each block of a pair takes every other tile, and both have the
/// same count.
template <bool resident>
class Share {
 public:
  __device__ __forceinline__ Share(const HalfCollection& collection, const HalfWork& work, std::uint32_t part,
                                   std::uint32_t rank)
      : count(0),
        first_(part * work.a_part),
        end_(min(first_ + work.a_part, work.tiles)),
        walk_(collection.tiles, first_ + (resident ? 0 : rank)) {
    count = resident ? end_ - first_ : divide_up(end_ - first_, 2u);
    tile = first_ + (resident ? 0 : rank);
  }
  /// Returns the first row of the tile; ~0 if it has none.
  __device__ __forceinline__ std::uint64_t row(const HalfCollection& collection) const {
    const std::uint64_t row = walk_.row(collection.tiles);
    return tile < end_ && row < collection.train_rows ? row : ~std::uint64_t{0};
  }
  /// Returns whether the tile exists, with rows or without.
  __device__ __forceinline__ bool is_inside() const { return tile < end_; }
  __device__ __forceinline__ void next(const HalfCollection& collection) {
    walk_.next(collection.tiles);
    if (!resident) walk_.next(collection.tiles);
    tile += resident ? 1 : 2;
  }

  std::uint32_t count, tile = 0;

 private:
  std::uint32_t first_, end_;
  Walk walk_;
};

/// One thread copies the slabs that all others multiply.
///   lows  for each place, the value that sums are tested with
template <bool resident>
__device__ void copy_slabs(const HalfCollection& collection, const HalfWork& work, const Memory& memory,
                           unsigned char* shared, Rest& rest, Share<resident> share,
                           std::uint32_t query_block, std::uint32_t rank, const float* lows) {
  const std::size_t tile_bytes = std::size_t{work.slabs} * memory.slab;
  const auto* const queries =
      static_cast<const unsigned char*>(collection.queries) + query_block * query_slabs * tile_bytes;
  const auto* const train = static_cast<const unsigned char*>(collection.train);
  unsigned char* const stages = shared + memory.queries;
  // The last 128 queries may not exist in memory.
  const std::uint32_t query_tiles =
      min(query_slabs, divide_up(collection.rows - query_block * block_queries, tile_rows));
  if (resident) {
    const auto bytes = static_cast<std::uint32_t>(query_tiles * tile_bytes);
    hopper::expect(&rest.queries, bytes);
    for (std::uint32_t at = 0; at < bytes; at += memory.slab)
      hopper::copy(shared + at, queries + at, memory.slab, &rest.queries);
  }
  Place place;
  LowPlace low;
  for (std::uint32_t i = 0; i < share.count; ++i, share.next(collection), low.next(memory.stages)) {
    const std::uint64_t row = share.row(collection);
    const bool some = row != ~std::uint64_t{0};
    const unsigned char* const from = train + row / tile_rows * tile_bytes;  // only read if the tile has rows
    for (std::uint32_t s = 0; s < work.slabs; ++s, place.next(memory.stages)) {
      hopper::wait<!resident>(&rest.empty[place.stage], place.parity ^ 1);
      hopper::Barrier* const full = &rest.full[place.stage];
      unsigned char* const to = stages + place.stage * memory.stage;
      const bool with_low = some && s == 0;
      const std::uint32_t copies = (some ? 1 : 0) + (resident ? 0 : query_tiles);
      hopper::expect(full, copies * memory.slab + (with_low ? sizeof rest.low[0] : 0));
      if (some) hopper::copy(to, from + s * memory.slab, memory.slab, full);
      if (with_low)
        hopper::copy(rest.low[low.at], lows + std::size_t{share.tile} * tile_rows, sizeof rest.low[0], full);
      if (!resident && rank < query_tiles)
        hopper::copy_to_both(to + (1 + rank) * memory.slab, queries + rank * tile_bytes + s * memory.slab,
                             memory.slab, full);
    }
  }
}

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

/// Where in the step the sums of 8 queries by 64 rows belong. A lane has 16 of these sums.
struct Spot {
  std::uint32_t q, place, row, lane;

  __device__ __forceinline__ std::uint32_t column(std::uint32_t i) const {
    return i / 2 * 8 + lane % 4 * 2 + i % 2;
  }
};

constexpr int columns_at_once = 16, rows_at_once = 64;

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

constexpr int parts = tile_rows / rows_at_once, chains = 4;  // so that no comparison waits for the one before

/// Returns sum c of the 16 that a lane has for query h, one of its two, in part `part` of the tile.
template <class Sum>
__device__ __forceinline__ Sum& sum_at(hopper::Sums<Sum>& sums, int part, int h, int c) {
  return sums[part * 32 + c / 2 * 4 + 2 * h + c % 2];
}
template <class Sum>
__device__ __forceinline__ const Sum& sum_at(const hopper::Sums<Sum>& sums, int part, int h, int c) {
  return sums[part * 32 + c / 2 * 4 + 2 * h + c % 2];
}

/// Sets each sum to the lift of its row. Products are then added, so that one comparison with `floor` tests
/// the sum.
__device__ __forceinline__ void start_from(hopper::Sums<int>& sums, const float* lifts, std::uint32_t lane) {
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    int lift[columns_at_once];
    read_low(lift, lifts, part, lane);
#pragma unroll
    for (int c = 0; c < columns_at_once; ++c) sum_at(sums, part, 0, c) = sum_at(sums, part, 1, c) = lift[c];
  }
}

/// Finds the lifted sums of a query that reach `floor`; find_near() does this for floats.
__device__ __forceinline__ void find_lifted(Findings<SumOfPlace>& findings, const HalfCollection& collection,
                                            const int (&sums)[columns_at_once], int floor, const Spot& spot) {
  std::uint32_t pending = 0;
#pragma unroll
  for (int i = 0; i < columns_at_once; ++i)
    if (sums[i] >= floor) pending |= 1u << i;
  while (__any_sync(whole_warp, pending != 0)) {
    const auto i = static_cast<std::uint32_t>(__ffs(static_cast<int>(pending))) - 1;
    const std::uint32_t column = spot.column(i);
    findings.add(
        collection, pending != 0,
        {spot.q, spot.place + column, spot.row + column, __int_as_float(pick<0, columns_at_once>(sums, i))});
    pending &= pending - 1;
  }
}

/// Tests the lifted sums of the 16 queries of this warp at once: one vote tells whether any reaches
/// its limit.
__device__ __forceinline__ void test_lifted(Findings<SumOfPlace>& findings, const HalfCollection& collection,
                                            const hopper::Sums<int>& sums, const Limits<true>& limits,
                                            const Spot& spot) {
  int most[parts][2];
#pragma unroll
  for (int part = 0; part < parts; ++part) {
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
  const bool goes_on =
      max(most[0][0], most[1][0]) >= limits.of[0] || max(most[0][1], most[1][1]) >= limits.of[1];
  if (!__any_sync(whole_warp, goes_on)) return;
#pragma unroll
  for (int part = 0; part < parts; ++part) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (!__any_sync(whole_warp, most[part][h] >= limits.of[h])) continue;
      int of[columns_at_once];
#pragma unroll
      for (int c = 0; c < columns_at_once; ++c) of[c] = sum_at(sums, part, h, c);
      find_lifted(
          findings, collection, of, limits.of[h],
          {spot.q + 8 * h, spot.place + part * rows_at_once, spot.row + part * rows_at_once, spot.lane});
    }
  }
}

/// Computes, from 16 sums of a query, the values that are compared with the threshold.
template <class Sum>
__device__ __forceinline__ void compare_with(float (&v)[columns_at_once], const HalfCollection& collection,
                                             const hopper::Sums<Sum>& sums,
                                             const float (&low)[columns_at_once], int part, int h) {
#pragma unroll
  for (int c = 0; c < columns_at_once; ++c)
    v[c] = __fmaf_rn(-collection.unscale, static_cast<float>(sum_at(sums, part, h, c)), low[c]);
}

/// Tests sums by the values that are compared with the threshold, or writes a sample of these values.
///   low  belongs to the rows of the tile
template <bool sample, class Sum>
__device__ __forceinline__ void test_sums(Findings<>& findings, const HalfCollection& collection,
                                          const hopper::Sums<Sum>& sums, const float* low,
                                          const Limits<false>& limits, const Spot& spot) {
  const auto [q, place, row, lane] = spot;
  float least[parts][2];
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    float low_of[columns_at_once], v[columns_at_once];
    read_low(low_of, low, part, lane);
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      compare_with(v, collection, sums, low_of, part, h);
      if constexpr (sample) {
        put_sample(collection, v, q + 8 * h, place + part * rows_at_once, lane);
        continue;
      }
      float of[chains] = {v[0], v[1], v[2], v[3]};
#pragma unroll
      for (int c = chains; c < columns_at_once; ++c) of[c % chains] = fminf(of[c % chains], v[c]);
      least[part][h] = fminf(fminf(of[0], of[1]), fminf(of[2], of[3]));
    }
  }
  if constexpr (sample) return;
  const bool passes =
      fminf(least[0][0], least[1][0]) <= limits.of[0] || fminf(least[0][1], least[1][1]) <= limits.of[1];
  if (!__any_sync(whole_warp, passes)) return;
#pragma unroll
  for (int part = 0; part < parts; ++part) {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      if (!__any_sync(whole_warp, least[part][h] <= limits.of[h])) continue;
      float low_of[columns_at_once], v[columns_at_once];
      read_low(low_of, low, part, lane);
      compare_with(v, collection, sums, low_of, part, h);
      find_near(findings, collection, v, limits.of[h], q + 8 * h, place + part * rows_at_once,
                row + part * rows_at_once, lane);
    }
  }
}

}  // namespace kith::cuda
