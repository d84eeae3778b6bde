// Lists of candidates that the kernels of proposers append to, and where the rows lie that they list.
// docs/certificate.md, section 4.
#pragma once

#include "common.cuh"

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

/// What is at least v + gap + |v| 2^-22, as a key.
__device__ __forceinline__ Key high_key(float v, float gap, std::uint32_t row) {
  return key_of(__fadd_ru(v, __fadd_ru(gap, __fmul_ru(fabsf(v), 0x1p-22f))), row);
}

/// How far bounds are apart at a place; 0 where nobody wants to know.
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

/// Whether place `at` of list q, and every fourth from there on, is aligned for four at once.
__device__ __forceinline__ bool can_put_four(const BoundedLists& out, std::size_t q, std::uint32_t at) {
  const auto aligned = [&](const auto& matrix) {
    return reinterpret_cast<std::uintptr_t>(matrix.data + q * matrix.stride + at) % sizeof(uint4) == 0;
  };
  return out.low.data != nullptr && aligned(out.lists.rows) && aligned(out.low) && aligned(out.high);
}

/// Write places at ... at + 3 of list q, which must be below the capacity.
///   gap, row, v  [4]
__device__ __forceinline__ void put_four(const BoundedLists& out, const float* gap, std::size_t q,
                                         std::uint32_t at, const std::uint32_t* row, const float* v) {
  *reinterpret_cast<uint4*>(out.lists.rows.data + q * out.lists.rows.stride + at) = {row[0], row[1], row[2],
                                                                                     row[3]};
  *reinterpret_cast<float4*>(out.low.data + q * out.low.stride + at) = {v[0], v[1], v[2], v[3]};
  auto* const high = reinterpret_cast<ulonglong2*>(out.high.data + q * out.high.stride + at);
#pragma unroll
  for (int e = 0; e < 2; ++e)
    high[e] = {high_key(v[2 * e], gap[2 * e], row[2 * e]),
               high_key(v[2 * e + 1], gap[2 * e + 1], row[2 * e + 1])};
}

}  // namespace kith::cuda
