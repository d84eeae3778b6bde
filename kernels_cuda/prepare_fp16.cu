// prepare, fp16: rows as scaled 16-bit floats, and what is known of them.
//
//   rows    [n, dims]   blocks of 32 rows
//   centre  [1, dims]
//   shadow  [n, dims]   row-major: x~ = half(scale (x - c)) / scale; padded with zeros to 128 rows and 32
//                       dimensions
//   facts   [4, n]      half_norm, norm, shadow_norm, residual, each rounded to the safe side
//
// A block of 8 warps takes 32 rows. A warp takes 32 dimensions at a time, a lane a row; what it made is
// turned over in shared memory and written 64 bytes a row. Sums of squares are double.
// Work: n * dims elements, read once, and half as many bytes written. Shared memory: 26 KiB. Barriers: one.
// Source: docs/certificate.md, section 2.
#include <cuda_fp16.h>

#include "common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t warps = 8, threads = warps * 32, block_rows = 32, tile_dims = 32;
constexpr std::uint32_t piece = sizeof(uint4) / sizeof(std::uint16_t);  // halves that are written at once
static_assert(rows_a_block == block_rows);

struct Squares {
  double moved;     // of x - c
  double shadow;    // of x~
  double residual;  // of x - c - x~
};

__device__ __forceinline__ float root_above(double squares, double margin) {
  return __double2float_ru(sqrt(squares * (1.0 + margin)));
}

/// The scaled half of x - c, as its bits; its squares are added to `sums`.
__device__ __forceinline__ std::uint16_t halve(float x, float c, float scale, double unscale, Squares& sums) {
  const double moved = static_cast<double>(x) - static_cast<double>(c);
  const __half half = __float2half_rn((x - c) * scale);
  const double shadow = static_cast<double>(__half2float(half)) * unscale;
  sums.moved += moved * moved;
  sums.shadow += shadow * shadow;
  sums.residual += (moved - shadow) * (moved - shadow);
  return __half_as_ushort(half);
}

__device__ void write_facts(const Matrix<float>& facts, std::uint32_t r, const Squares& sums,
                            std::uint32_t dims) {
  const double margin = (static_cast<double>(dims) + 8.0) * 0x1p-53;
  float* const at = facts.data + r;
  const float norm = root_above(sums.moved, margin);
  at[fact::half_norm * facts.stride] = __double2float_rd(0.5 * (sums.moved * (1.0 - margin)));
  at[fact::norm * facts.stride] = norm;
  at[fact::shadow_norm * facts.stride] = root_above(sums.shadow, margin);
  // x - c was rounded to double, and so was its distance from the shadow.
  at[fact::residual * facts.stride] = __double2float_ru(
      static_cast<double>(root_above(sums.residual, margin)) + static_cast<double>(norm) * 0x1p-51);
}

/// Block b takes rows 32 b ... of the shadow; rows behind the last, and dimensions, are zeros.
__global__ __launch_bounds__(threads) void prepare_halves(const Preparation preparation, const float scale,
                                                          std::uint16_t* shadow, const std::size_t pitch) {
  __shared__ __align__(16) std::uint16_t tiles[warps][block_rows][tile_dims + piece];
  __shared__ Squares sums_of[warps][block_rows];
  const Rows& rows = preparation.rows;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t i = blockIdx.x * block_rows + lane;  // row of the shadow
  const std::uint32_t r = rows.first + i;                  // row of the memory
  const bool mine = i < rows.rows;
  const float* const from =
      rows.data + static_cast<std::size_t>(r / rows_a_block) * rows.dims * rows_a_block + r % rows_a_block;
  const double unscale = 1.0 / static_cast<double>(scale);
  auto& tile = tiles[warp];

  Squares sums{};
  for (std::uint32_t d0 = warp * tile_dims; d0 < rows.dims; d0 += warps * tile_dims) {
#pragma unroll 8
    for (std::uint32_t d = 0; d < tile_dims; ++d) {
      const bool inside = mine && d0 + d < rows.dims;
      tile[lane][d] = inside ? halve(__ldcs(from + static_cast<std::size_t>(d0 + d) * rows_a_block),
                                     __ldg(preparation.centre + d0 + d), scale, unscale, sums)
                             : std::uint16_t{0};
    }
    __syncwarp();
#pragma unroll
    for (std::uint32_t i0 = 0; i0 < block_rows; i0 += 32 * piece / tile_dims) {
      const std::uint32_t row = i0 + lane * piece / tile_dims, d = lane * piece % tile_dims;
      const std::size_t to = (std::size_t{blockIdx.x} * block_rows + row) * pitch + d0 + d;
      *reinterpret_cast<uint4*>(shadow + to) = *reinterpret_cast<const uint4*>(&tile[row][d]);
    }
    __syncwarp();
  }

  sums_of[warp][lane] = sums;
  __syncthreads();
  if (warp != 0 || !mine) return;
  for (std::uint32_t other = 1; other < warps; ++other) {
    sums.moved += sums_of[other][lane].moved;
    sums.shadow += sums_of[other][lane].shadow;
    sums.residual += sums_of[other][lane].residual;
  }
  write_facts(preparation.facts, i, sums, rows.dims);
}

}  // namespace

cudaError_t prepare_fp16(const Queue& queue, const Preparation& preparation, float scale) {
  const std::uint32_t padded = divide_up(preparation.rows.rows, half_padded_rows) * half_padded_rows;
  return launch(queue, prepare_halves, padded / block_rows, threads, 0, preparation, scale,
                reinterpret_cast<std::uint16_t*>(preparation.shadow.data), half_pitch(preparation.rows.dims));
}

}  // namespace kith::cuda
