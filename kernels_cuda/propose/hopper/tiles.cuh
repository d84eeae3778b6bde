// How a block of collect_hopper.cu divides its memory and its tiles, and the warp that copies. wide.cuh takes
// its tiles in the same way.
// No twin in kernels_cl: the OpenCL back end multiplies by mma.sync alone.
#pragma once

#include "propose/collect_fp16.cuh"
#include "propose/hopper/fragments.cuh"
#include "propose/hopper/instructions.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t groups = 4, group_threads = 128, group_warps = group_threads / 32;
inline constexpr std::uint32_t append_warps = group_warps - 1;  // the other one of their group copies
inline constexpr int append_each = 2;                           // findings of a lane at a time
inline constexpr std::uint32_t tile_rows = tile_of_halves, group_queries = 64;
inline constexpr std::uint32_t block_queries = groups * group_queries,
                               query_slabs = block_queries / tile_rows;
inline constexpr std::uint32_t resident_slabs = 4;  // with more, no tile would fit beside them
inline constexpr std::uint32_t most_stages = 16;
inline constexpr std::uint32_t alignment = 1024;  // eight lines of 128 bytes form a swizzle pattern

/// The part of shared memory behind queries and stages.
struct Rest {
  FragmentRing rings[groups * group_warps];  // of each warp that multiplies
  Finding found[append_warps][room_for_findings<append_each>];
  float low[most_stages + 1][tile_rows];  // `low`, or lifts, of successive tiles
  std::uint32_t row[most_stages + 1];     // the first training row of each
  hopper::Barrier full[most_stages], empty[most_stages], queries;
};

static_assert(hopper_shared_bytes - alignment - sizeof(Rest) >= 4 * (1 + query_slabs) * tile_rows * 128,
              "a pair of blocks has four stages, of a slab of rows and of its queries");

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

/// The place of a tile's `low` and `row` in Rest. The thread that copies is at most `stages` tiles ahead of
/// the warps that test, which have then released their slabs, so one place more than stages is enough.
struct LowPlace {
  std::uint32_t at = 0;

  __device__ __forceinline__ void next(std::uint32_t stages) { at = at == stages ? 0 : at + 1; }
};

/// The `count` tiles that a block takes. Where queries are not resident, each block of a pair takes every
/// other tile, and both have the same count.
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
  /// Returns whether the step has the tile, with rows or without.
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
    // A tile of the step without rows has `low`, so that nothing of it is appended, whatever is multiplied.
    const bool inside = share.is_inside();
    const unsigned char* const from = train + row / tile_rows * tile_bytes;  // only read if the tile has rows
    for (std::uint32_t s = 0; s < work.slabs; ++s, place.next(memory.stages)) {
      hopper::wait(&rest.empty[place.stage], place.parity ^ 1);
      hopper::Barrier* const full = &rest.full[place.stage];
      unsigned char* const to = stages + place.stage * memory.stage;
      const bool with_low = inside && s == 0;
      if (with_low) rest.row[low.at] = collection.first_row + static_cast<std::uint32_t>(row);
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

}  // namespace kith::cuda
