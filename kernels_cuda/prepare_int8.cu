// prepare, int8: rows as scaled bytes, and what is known of them.
//
//   rows    [n, dims]   blocks of 32 rows
//   centre  [1, dims]
//   shadow  [n, dims]   in the order of byte_shape(): x~ = byte / scale, byte the nearest whole number to
//                       scale (x - c) from -127 to 127; padding is zeros
//   facts   [4, n]      half_norm, norm, shadow_norm, residual, each rounded to the safe side
//
// A block of 8 warps takes 32 rows, a lane a row, a warp 16 dimensions at a time, which are a piece. Sums of
// squares are double. Work: n * dims elements, read once, and a quarter as many bytes written. Shared memory:
// 6 KiB. Barriers: one. Source: docs/certificate.md, section 2.
#include "int8.hpp"
#include "prepare_shadow.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t warps = 8, threads = warps * 32, piece = sizeof(uint4);

/// The byte of x - c, in the low bits; its squares are added to `sums`.
__device__ __forceinline__ std::uint32_t byte_of(float x, float c, float scale, double unscale,
                                                 Squares& sums) {
  constexpr float most = 127;
  const int byte = __float2int_rn(fminf(fmaxf((x - c) * scale, -most), most));
  sums.add(static_cast<double>(x) - static_cast<double>(c), static_cast<double>(byte) * unscale);
  return static_cast<std::uint32_t>(byte) & 0xFFu;
}

/// Block b takes rows 32 b ... of the shadow; rows behind the last, and dimensions, are zeros.
__global__ __launch_bounds__(threads) void prepare_bytes(const Preparation preparation, const float scale,
                                                         const HalfShape shape, uint4* shadow) {
  __shared__ Squares sums_of[warps][rows_a_block];
  const Rows& rows = preparation.rows;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t i = blockIdx.x * rows_a_block + lane;  // row of the shadow
  const std::uint32_t r = rows.first + i;                    // row of the memory
  const bool mine = i < rows.rows;
  const float* const from =
      rows.data + static_cast<std::size_t>(r / rows_a_block) * rows.dims * rows_a_block + r % rows_a_block;
  const double unscale = 1.0 / static_cast<double>(scale);

  Squares sums{};
  for (std::uint32_t p = warp; p < shape.slabs * shape.pieces; p += warps) {
    std::uint32_t words[4] = {};
#pragma unroll
    for (std::uint32_t j = 0; j < piece; ++j) {
      const std::uint32_t d = p * piece + j;
      if (mine && d < rows.dims)
        words[j / 4] |= byte_of(__ldcs(from + static_cast<std::size_t>(d) * rows_a_block),
                                __ldg(preparation.centre + d), scale, unscale, sums)
                        << j % 4 * 8;
    }
    shadow[place_of(shape, i, p)] = {words[0], words[1], words[2], words[3]};
  }

  sums_of[warp][lane] = sums;
  __syncthreads();
  if (warp != 0 || !mine) return;
  for (std::uint32_t other = 1; other < warps; ++other) sums.add(sums_of[other][lane]);
  // One over the scale was rounded to double, and so was each product with it.
  write_facts(preparation.facts, i, sums, rows.dims, 0x1p-50);
}

}  // namespace

cudaError_t prepare_int8(const Queue& queue, const Preparation& preparation, float scale) {
  const std::uint32_t padded = divide_up(preparation.rows.rows, tile_of_halves) * tile_of_halves;
  return launch(queue, prepare_bytes, padded / rows_a_block, threads, 0, preparation, scale,
                byte_shape(preparation.rows.dims), reinterpret_cast<uint4*>(preparation.shadow.data));
}

}  // namespace kith::cuda
