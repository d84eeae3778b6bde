// Lists of candidates that the kernels of proposers append to, and where the rows lie that they list.
// docs/certificate.md, section 4.
#pragma once

#include "propose/collection.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t whole_warp = 0xFFFFFFFFu;

/// The first row of tile `tile` of a step, which may lie behind the last there is.
__device__ __forceinline__ std::uint64_t row_of_tile(const Tiles& tiles, std::uint32_t tile) {
  const std::uint64_t visit = std::uint64_t{tiles.first} + tile / tiles.a_visit;
  return (visit * tiles.stride % tiles.blocks * tiles.a_visit + tile % tiles.a_visit) * tile_of_halves;
}

/// The first row of one tile after another, from tile `first` on, without divisions.
class Walk {
 public:
  __device__ __forceinline__ Walk(const Tiles& tiles, std::uint32_t first)
      : in_visit_(first % tiles.a_visit),
        block_(static_cast<std::uint32_t>((std::uint64_t{tiles.first} + first / tiles.a_visit) *
                                          tiles.stride % tiles.blocks)) {}
  __device__ __forceinline__ std::uint64_t row(const Tiles& tiles) const {
    return (std::uint64_t{block_} * tiles.a_visit + in_visit_) * tile_of_halves;
  }
  __device__ __forceinline__ void next(const Tiles& tiles) {
    if (++in_visit_ < tiles.a_visit) return;
    in_visit_ = 0;
    block_ = block_ >= tiles.blocks - tiles.stride ? block_ - (tiles.blocks - tiles.stride)
                                                   : block_ + tiles.stride;
  }

 private:
  std::uint32_t in_visit_, block_;
};

/// What is at least v + gap + |v| 2^-22.
__device__ __forceinline__ float high_of(float v, float gap) {
  return __fadd_ru(v, __fmaf_ru(fabsf(v), 0x1p-22f, gap));
}

__device__ __forceinline__ Key high_key(float v, float gap, std::uint32_t row) {
  return key_of(high_of(v, gap), row);
}

/// The least of such in a sample: fminf() takes what is a number, +infinity at first, where v is none.
__device__ __forceinline__ float least_high(float least, float v, float gap) {
  return fminf(least, high_of(v, gap));
}

/// The same in a sample of which nothing is known.
__device__ __forceinline__ float no_high() {
  return __uint_as_float(0x7F800000u);
}

/// How far bounds are apart at a place; 0 where it is not wanted.
__device__ __forceinline__ float gap_at(const ProductLow& from, std::uint32_t place) {
  return from.gap == nullptr ? 0.0f : __ldg(from.gap + place);
}

/// Write place `at` of list q, which must be below the capacity.
__device__ __forceinline__ void put_candidate(const BoundedLists& out, float gap, std::size_t q,
                                              std::uint32_t at, std::uint32_t row, float v) {
  out.lists.rows.data[q * out.lists.rows.stride + at] = row;
  if (out.low.data == nullptr) return;
  out.low.data[q * out.low.stride + at] = v;
  out.high.data[q * out.high.stride + at] = high_key(v, gap, row);
}

}  // namespace kith::cuda
