// The lists that proposers append candidates to, and the order in which they visit rows. docs/certificate.md,
// section 4.
#pragma once

#include "propose/collection.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t whole_warp = 0xFFFFFFFFu;

/// Returns the first row of a tile of a step; it may be behind the last row.
__device__ __forceinline__ std::uint64_t row_of_tile(const Tiles& tiles, std::uint32_t tile) {
  const std::uint64_t visit = std::uint64_t{tiles.first} + tile / tiles.a_visit;
  return (visit * tiles.stride % tiles.blocks * tiles.a_visit + tile % tiles.a_visit) * tile_of_halves;
}

/// Returns the first rows of tiles, from tile `first` on, without divisions.
class Walk {
 public:
  /// How far a step goes: so many tiles of a visit, and so many blocks.
  struct Step {
    std::uint32_t tiles, blocks;
  };

  __device__ __forceinline__ Walk(const Tiles& tiles, std::uint32_t first)
      : in_visit_(first % tiles.a_visit),
        block_(static_cast<std::uint32_t>((std::uint64_t{tiles.first} + first / tiles.a_visit) *
                                          tiles.stride % tiles.blocks)) {}
  /// Returns the step that goes over `count` tiles.
  static __host__ __device__ Step step_of(const Tiles& tiles, std::uint32_t count) {
    return {count % tiles.a_visit,
            static_cast<std::uint32_t>(std::uint64_t{count / tiles.a_visit} * tiles.stride % tiles.blocks)};
  }

  __device__ __forceinline__ std::uint64_t row(const Tiles& tiles) const {
    return (std::uint64_t{block_} * tiles.a_visit + in_visit_) * tile_of_halves;
  }
  __device__ __forceinline__ void next(const Tiles& tiles) {
    if (++in_visit_ < tiles.a_visit) return;
    in_visit_ = 0;
    go(tiles, tiles.stride);
  }
  __device__ __forceinline__ void next(const Tiles& tiles, const Step& step) {
    in_visit_ += step.tiles;
    go(tiles, step.blocks);
    if (in_visit_ < tiles.a_visit) return;
    in_visit_ -= tiles.a_visit;
    go(tiles, tiles.stride);
  }

 private:
  __device__ __forceinline__ void go(const Tiles& tiles, std::uint32_t blocks) {
    block_ = block_ >= tiles.blocks - blocks ? block_ - (tiles.blocks - blocks) : block_ + blocks;
  }

  std::uint32_t in_visit_, block_;
};

/// Returns an upper bound of v + gap + |v| 2^-22.
__device__ __forceinline__ float high_of(float v, float gap) {
  return __fadd_ru(v, __fmaf_ru(fabsf(v), 0x1p-22f, gap));
}

__device__ __forceinline__ Key high_key(float v, float gap, std::uint32_t row) {
  return key_of(high_of(v, gap), row);
}

/// Returns the smaller of `least` and the upper bound of v. If v is NaN, fminf() returns `least`, which is
/// +infinity at first.
__device__ __forceinline__ float least_high(float least, float v, float gap) {
  return fminf(least, high_of(v, gap));
}

/// Returns the initial value of `least` in least_high().
__device__ __forceinline__ float no_high() {
  return __uint_as_float(0x7F800000u);
}

/// Returns the gap, the difference of upper and lower bound, at a place; 0 if it is not needed.
__device__ __forceinline__ float gap_at(const ProductLow& from, std::uint32_t place) {
  return from.gap == nullptr ? 0.0f : __ldg(from.gap + place);
}

/// Writes place `at` of list q, which must be below the capacity.
__device__ __forceinline__ void put_candidate(const BoundedLists& out, float gap, std::size_t q,
                                              std::uint32_t at, std::uint32_t row, float v) {
  out.lists.rows.data[q * out.lists.rows.stride + at] = row;
  if (out.low.data == nullptr) return;
  out.low.data[q * out.low.stride + at] = v;
  out.high.data[q * out.high.stride + at] = high_key(v, gap, row);
}

}  // namespace kith::cuda
