// prepare, fp16: rows as scaled 16-bit floats, and what is known of them.
//
//   rows    [n, dims]   blocks of 32 rows
//   centre  [1, dims]
//   shadow  [n, dims]   in the order of HalfShape: x~ = half(scale (x - c)) / scale; padding is zeros. Of up
//                       to 4 dimensions x~ = (high + low) / scale (prepare_fp16.hpp)
//   facts   [4, n]      half_norm, norm, shadow_norm, residual, each rounded to the safe side
//
// Split rows, lines of 32 bytes, are made by a thread each. Of others a block of 8 warps takes 32 rows. A
// warp takes 32 dimensions at a time, a lane a row; what it made is turned over in shared memory and written
// in pieces of 16 bytes. Sums of squares are double. Work: n * dims elements, read once, and half as many
// bytes written. Shared memory: 26 KiB. Barriers: one. Source: docs/certificate.md, section 2.
#include <cuda_fp16.h>

#include "prepare_fp16.hpp"
#include "prepare_shadow.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t warps = 8, threads = warps * 32, block_rows = 32, tile_dims = 32;
constexpr std::uint32_t piece = sizeof(uint4) / sizeof(std::uint16_t);  // halves that are written at once
static_assert(rows_a_block == block_rows);
constexpr std::uint32_t split_pieces = half_shape(most_split_dims).pieces;  // of a split row
static_assert(split_pieces * piece == half_terms(most_split_dims));

/// The scaled half of x - c, as its bits; its squares are added to `sums`.
__device__ __forceinline__ std::uint16_t halve(float x, float c, float scale, double unscale, Squares& sums) {
  const __half half = __float2half_rn((x - c) * scale);
  sums.add(static_cast<double>(x) - static_cast<double>(c),
           static_cast<double>(__half2float(half)) * unscale);
  return __half_as_ushort(half);
}

/// Block b takes rows 32 b ... of the shadow; rows behind the last, and dimensions, are zeros.
__global__ __launch_bounds__(threads) void prepare_halves(const Preparation preparation, const float scale,
                                                          const HalfShape shape, uint4* shadow) {
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
  const std::uint32_t pieces = shape.slabs * shape.pieces;  // of a row
  for (std::uint32_t d0 = warp * tile_dims; d0 < pieces * piece; d0 += warps * tile_dims) {
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
      if ((d0 + d) / piece < pieces)
        shadow[place_of(shape, blockIdx.x * block_rows + row, (d0 + d) / piece)] =
            *reinterpret_cast<const uint4*>(&tile[row][d]);
    }
    __syncwarp();
  }

  sums_of[warp][lane] = sums;
  __syncthreads();
  if (warp != 0 || !mine) return;
  for (std::uint32_t other = 1; other < warps; ++other) sums.add(sums_of[other][lane]);
  write_facts(preparation.facts, i, sums, rows.dims);
}

/// The four columns of a number; its squares are added to `sums`.
__device__ __forceinline__ uint2 split(float x, float c, float scale, double unscale, bool of_query,
                                       Squares& sums) {
  const float value = (x - c) * scale;
  const __half high = __float2half_rn(value), low = __float2half_rn(value - __half2float(high));
  sums.add(static_cast<double>(x) - static_cast<double>(c),
           (static_cast<double>(__half2float(high)) + static_cast<double>(__half2float(low))) * unscale);
  const std::uint32_t first = __half_as_ushort(high), second = __half_as_ushort(low);
  if (of_query) return {first | first << 16, second | second << 16};
  const std::uint32_t both = first | second << 16;
  return {both, both};
}

/// Block b takes rows 128 b ... of the shadow, a thread a row; rows behind the last are zeros.
__global__ __launch_bounds__(tile_of_halves) void prepare_split(const Preparation preparation,
                                                                const float scale, const bool of_queries,
                                                                uint4* shadow) {
  const Rows& rows = preparation.rows;
  const std::uint32_t i = blockIdx.x * tile_of_halves + threadIdx.x;  // row of the shadow
  const std::uint32_t r = rows.first + i;                             // row of the memory
  const bool mine = i < rows.rows;
  const float* const from =
      rows.data + static_cast<std::size_t>(r / rows_a_block) * rows.dims * rows_a_block + r % rows_a_block;
  const double unscale = 1.0 / static_cast<double>(scale);
  Squares sums{};
  uint2 columns[most_split_dims];
#pragma unroll
  for (std::uint32_t d = 0; d < most_split_dims; ++d)
    columns[d] = mine && d < rows.dims ? split(__ldcs(from + d * rows_a_block), __ldg(preparation.centre + d),
                                               scale, unscale, of_queries, sums)
                                       : uint2{};
  constexpr HalfShape shape{split_pieces, 1};
#pragma unroll
  for (std::uint32_t p = 0; p < split_pieces; ++p)
    shadow[place_of(shape, i, p)] = {columns[2 * p].x, columns[2 * p].y, columns[2 * p + 1].x,
                                     columns[2 * p + 1].y};
  if (mine) write_facts(preparation.facts, i, sums, rows.dims);
}

cudaError_t prepare_rows(const Queue& queue, const Preparation& preparation, float scale, bool of_queries) {
  auto* const shadow = reinterpret_cast<uint4*>(preparation.shadow.data);
  const std::uint32_t tiles = divide_up(preparation.rows.rows, tile_of_halves);
  if (preparation.rows.dims <= most_split_dims)
    return launch(queue, prepare_split, tiles, tile_of_halves, 0, preparation, scale, of_queries, shadow);
  return launch(queue, prepare_halves, tiles * (tile_of_halves / block_rows), threads, 0, preparation, scale,
                half_shape(preparation.rows.dims), shadow);
}

}  // namespace

cudaError_t prepare_fp16(const Queue& queue, const Preparation& preparation, float scale) {
  return prepare_rows(queue, preparation, scale, false);
}

cudaError_t prepare_fp16_queries(const Queue& queue, const Preparation& preparation, float scale) {
  return prepare_rows(queue, preparation, scale, true);
}

}  // namespace kith::cuda
