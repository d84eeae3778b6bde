// What the kernels share that search groups of rows with many columns by products of 16-bit floats
// (docs/certificate.md, section 8): the quantized rows of all groups, and the bounds of their errors.
// No twin in kernels_cl: OpenCL computes the chains of all rows of a group.
#pragma once

#include <cuda_fp16.h>

#include "groups/groups.cuh"
#include "kith/spi/product_error.hpp"

namespace kith::cuda {

/// A line of halves has whole pieces, so that a lane multiplies 8 of them from one load.
inline constexpr std::uint32_t piece_of_halves = 32;
/// Columns of a row that a lane accumulates after it waited for a copy.
inline constexpr std::uint32_t copied_columns = 16;
/// Rows within the reach of a sample have halves up to 2^10; those of others are cut at most_half.
inline constexpr float most_half = 60000.0f;
/// Covers what underflow takes from a measured norm, in units of the scale: some 2^-70.
inline constexpr float tiny_norm = 0x1p-60f;

/// What holds for the rows x of a group. Norms are in units of 1 / scale. Wild rows, whose residuals are far
/// above those of others, are left out: every query takes them for near.
struct GroupTerms {
  float reach;         ///< largest magnitude of x - c in a sample
  float norm;          ///< at least aligned_norm()
  float residual;      ///< at least |scale (x - c) - x~|
  std::uint32_t wild;  ///< number of wild rows

  /// Returns the power of two by which `reach` is at most 2^10, and above 2^9 if it can be.
  __device__ __forceinline__ float scale() const {
    if (!(reach > 0.0f) || !(reach < INFINITY)) return 1.0f;
    const int exponent = static_cast<int>(__float_as_uint(reach) >> 23) - 126;  // reach < 2^exponent
    return ldexpf(1.0f, min(max(10 - exponent, -60), 60));  // whose square is a float, too
  }
};

/// Rows as products read them, in the order of the training rows of the step.
struct QuantizedGroups {
  std::uint32_t columns;  ///< of a row of halves: dims, rounded up to whole pieces
  __half* halves;         ///< [rows, columns]  x~, with zeros behind the last column
  float* rows;            ///< [rows, columns of floats]  x, with zeros behind the last column
  float* squares;         ///< [rows]  |x~|^2, with an error of at most columns u |x~|^2; -infinity: wild
  float* residuals;       ///< [rows]
  float* centres;         ///< [groups, columns]  c
  GroupTerms* terms;      ///< [groups]

  /// Returns the columns of a row of floats. Zeros behind the last column change no chain of squares.
  static constexpr __host__ __device__ std::uint32_t float_columns(std::uint32_t dims) {
    return (dims + copied_columns - 1) / copied_columns * copied_columns;
  }
};

/// Returns the least, the largest and the sum of a warp's numbers.
__device__ __forceinline__ std::uint32_t least_of_lanes(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_min_sync(0xFFFFFFFFu, value);
#else
  __trap();  // products_fit() refuses older devices
  return value;
#endif
}
__device__ __forceinline__ std::uint32_t most_of_lanes(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xFFFFFFFFu, value);
#else
  __trap();
  return value;
#endif
}
__device__ __forceinline__ std::uint32_t sum_of_lanes(std::uint32_t value) {
#if __CUDA_ARCH__ >= 800
  return __reduce_add_sync(0xFFFFFFFFu, value);
#else
  __trap();
  return value;
#endif
}

/// Measures |x~|^2, and |v - x~| and |v|, of a row v = scale (x - c) of up to 2^12 columns, column by
/// column.
struct HalfNorms {
  float squares = 0, rest = 0;

  /// Returns the half nearest to v among those within the limits, and adds its column.
  __device__ __forceinline__ __half add(float v) {
    const __half half = __float2half_rn(fminf(fmaxf(v, -most_half), most_half));
    const float near = __half2float(half), off = v - near;
    squares = fmaf(near, near, squares);
    rest = fmaf(off, off, rest);
    return half;
  }
};

/// Returns at least the root of a sum of squares of up to 2^12 columns.
__device__ __forceinline__ float norm_above(float squares) {
  return __fadd_ru(__fmul_ru(__fsqrt_ru(squares), 1.0f + 0x1p-11f), tiny_norm);
}

/// Returns at least the norm of the sizes as which tensor cores align the halves of a row.
///   squares  of the halves
__device__ __forceinline__ float aligned_norm(float squares, std::uint32_t columns) {
  return __fmaf_ru(__fsqrt_ru(static_cast<float>(columns)), spi::least_aligned_half, norm_above(squares));
}

/// Returns at least |scale (x - c) - x~|: what was measured, and the rounding of the difference.
__device__ __forceinline__ float residual_above(const HalfNorms& norms) {
  const float rest = norm_above(norms.rest), near = norm_above(norms.squares);
  return __fadd_ru(rest, __fmul_ru(__fadd_ru(rest, near), 0x1p-23f));
}

/// Returns where quantized rows are in scratch memory.
QuantizedGroups quantized_groups(const Groups& step, void* scratch);

/// Quantizes the rows of all groups.
cudaError_t quantize_groups(const Queue& queue, const Groups& step, const QuantizedGroups& to);

/// Returns whether this device can search the groups of a step by products.
bool products_fit(const Queue& queue, const spi::GroupsStep& step);

/// Returns the bytes of scratch memory that this needs.
std::size_t scratch_of_products(std::uint32_t rows, std::uint32_t groups, std::uint32_t dims);

/// Searches groups by products.
///   scratch  as many bytes
cudaError_t search_groups_by_products(const Queue& queue, const Groups& step, void* scratch);

}  // namespace kith::cuda
