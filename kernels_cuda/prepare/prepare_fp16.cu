// prepare, fp16: converts rows into scaled 16-bit floats, by prepare_turned.cuh.
//
//   quantized  [n, dims]   in the order of HalfShape: x~ = half(scale (x - c)) / scale; padding is zeros.
//                          With up to 4 dimensions x~ = (high + low) / scale (prepare_fp16.hpp)
//
// Split rows are lines of 32 bytes; one thread makes such a line, with the row terms and the copy of the
// row. Work: n * dims elements are read once, and half as many bytes written; with a copy, one and a half
// times as many.
#include <cuda_fp16.h>

#include "prepare/prepare_fp16.hpp"
#include "prepare/prepare_turned.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t split_pieces = half_shape(most_split_dims).pieces;  // pieces of a split row

/// Returns the size as which tensor cores align a half.
__device__ __forceinline__ float aligned_size(float half) {
  return fmaxf(fabsf(half), spi::least_aligned_half);
}

struct Halves {
  static constexpr std::uint32_t piece = sizeof(uint4) / sizeof(std::uint16_t);
  static constexpr double inexact = 0;
  float scale, unscale;  // powers of two, so that products with them are exact

  static __device__ __forceinline__ bool is_exact() { return false; }

  /// Returns the bits of x - c as a scaled half.
  __device__ __forceinline__ std::uint32_t half_of(float x, float c, Squares& sums) const {
    const __half half = __float2half_rn((x - c) * scale);
    const float near = __half2float(half);
    sums.add(static_cast<double>(x) - static_cast<double>(c), static_cast<double>(near * unscale),
             static_cast<double>(aligned_size(near) * unscale));
    return __half_as_ushort(half);
  }

  __device__ __forceinline__ void put(float* quantized, const HalfShape& shape, std::uint32_t row,
                                      std::uint32_t d, const float4& x, const float4& c,
                                      Squares& sums) const {
    const std::uint32_t first = half_of(x.x, c.x, sums), second = half_of(x.y, c.y, sums);
    const std::uint32_t third = half_of(x.z, c.z, sums), fourth = half_of(x.w, c.w, sums);
    reinterpret_cast<uint2*>(quantized)[place_of(shape, row, d / piece) * 2 + d / 4 % 2] = {
        first | second << 16, third | fourth << 16};
  }
};
static_assert(split_pieces * Halves::piece == half_terms(most_split_dims));

/// Returns the four columns of a number, and adds its squares to `sums`.
__device__ __forceinline__ uint2 split(float x, float c, float scale, double unscale, bool of_query,
                                       Squares& sums) {
  const float value = (x - c) * scale;
  const __half high = __float2half_rn(value), low = __float2half_rn(value - __half2float(high));
  const float near = __half2float(high), rest = __half2float(low);
  sums.add(static_cast<double>(x) - static_cast<double>(c),
           (static_cast<double>(near) + static_cast<double>(rest)) * unscale,
           (static_cast<double>(aligned_size(near)) + static_cast<double>(aligned_size(rest))) * unscale);
  const std::uint32_t first = __half_as_ushort(high), second = __half_as_ushort(low);
  if (of_query) return {first | first << 16, second | second << 16};
  const std::uint32_t both = first | second << 16;
  return {both, both};
}

/// Block b handles quantized rows from 128 b on, one per thread; rows behind the last are zeros.
__global__ __launch_bounds__(tile_of_halves) void prepare_split(const Preparation preparation,
                                                                const float scale, const bool of_queries,
                                                                uint4* quantized) {
  const Rows& rows = preparation.rows;
  const std::uint32_t i = blockIdx.x * tile_of_halves + threadIdx.x;  // quantized row
  const std::uint32_t r = rows.first + i;                             // row of the memory
  const bool mine = i < rows.rows;
  const float* const from = row_of(rows, r);
  const double unscale = 1.0 / static_cast<double>(scale);
  const Matrix<float>& copy = preparation.copy;
  Squares sums{};
  uint2 columns[most_split_dims] = {};
#pragma unroll
  for (std::uint32_t d = 0; d < most_split_dims; ++d) {
    if (!mine) continue;
    if (d >= rows.dims) {
      split(0, 0, scale, unscale, of_queries, sums);
      continue;
    }
    const float x = __ldcs(from + d * rows_a_block);
    if (copy.data != nullptr) copy.data[i * copy.stride + d] = x;
    columns[d] = split(x, __ldg(preparation.centre + d), scale, unscale, of_queries, sums);
  }
  constexpr HalfShape shape{split_pieces, 1};
#pragma unroll
  for (std::uint32_t p = 0; p < split_pieces; ++p)
    quantized[place_of(shape, i, p)] = {columns[2 * p].x, columns[2 * p].y, columns[2 * p + 1].x,
                                        columns[2 * p + 1].y};
  if (mine) write_row_terms(preparation, i, sums);
}

}  // namespace

cudaError_t prepare_fp16(const Queue& queue, const spi::PrepareStep& step) {
  const Preparation preparation = preparation_of_lines(step);
  const std::uint32_t dims = preparation.rows.dims;
  if (dims > most_split_dims)
    return launch_turned(queue, preparation, Halves{step.scale, 1.0f / step.scale}, half_shape(dims));
  return launch(queue, prepare_split, divide_up(preparation.rows.rows, tile_of_halves), tile_of_halves, 0,
                preparation, step.scale, step.queries, reinterpret_cast<uint4*>(preparation.quantized.data));
}

}  // namespace kith::cuda
