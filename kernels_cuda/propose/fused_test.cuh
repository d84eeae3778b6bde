// Makes the test of collect part of the product: low(x) and threshold(q) become two columns of 16-bit floats
// each, so that the sum of a pair is p - low(x) + threshold(q), and its sign tells whether it passes.
// docs/certificate.md, section 4.
//
//   last columns of a query           -K  -K  t0  t1
//   last columns of a training row    l0  l1   K   K
//
// K = 2^15. l0 + l1 and t0 + t1 are `low` and the threshold in units of K unscale. The first half is the one
// nearest to the number; the second is the rest, rounded to the safe side.
#pragma once

#include <cuda_fp16.h>

#include "common/common.cuh"
#include "kith/spi/product_error.hpp"
#include "propose/fused_test.hpp"

namespace kith::cuda {

/// Values that are the same for all rows of a step.
struct FusedTestTerms {
  double unit;     // K unscale
  double to_unit;  // 1 / unit
  double b;        // error of a sum, relative to the magnitudes that are added
  double dims;
};

/// Two halves whose sum is a number of at most 2 * 65504, or slightly more on its safe side.
struct Parts {
  std::uint16_t part[2];
  double sum;
};

template <bool up>
__device__ __forceinline__ Parts parts_of(double value) {
  constexpr double most = 65504;
  const auto limited = [](double number) { return fmax(fmin(number, most), -most); };
  const __half first = __double2half(limited(value));
  const double sum = static_cast<double>(__half2float(first)), left = limited(value - sum);
  const float rest = up ? __double2float_ru(left) : __double2float_rd(left);
  const __half second = up ? __float2half_ru(rest) : __float2half_rd(rest);
  return {{__half_as_ushort(first), __half_as_ushort(second)},
          sum + static_cast<double>(__half2float(second))};
}

/// Returns what a sum may lose of a number, both in units: the magnitudes of its parts, which have opposite
/// signs only where it is tiny, are aligned as no less than least_aligned_half each.
__device__ __forceinline__ double fused_test_error(const FusedTestTerms& terms, double units) {
  return terms.b * (fabs(units) * (1.0 + 0x1p-10) + 4.0 * spi::least_aligned_half);
}

/// Returns `low` of a row, reduced by what the sum may lose of it.
__device__ __forceinline__ Parts fused_test_low(const FusedTestTerms& terms, double low) {
  constexpr double most = spi::most_fused_test_low,
                   least = -1.0 * (spi::most_fused_test_threshold + spi::most_fused_test_product);
  const double units = low * terms.to_unit, less = units - fused_test_error(terms, units);
  return parts_of<false>(fmax(fmin(less, most * terms.dims), least * terms.dims));
}

/// Returns the base of lower bounds, which are base - sum: the threshold, reduced by what the sum may lose of
/// it.
__device__ __forceinline__ float base_of(const FusedTestTerms& terms, const Parts& threshold) {
  return __double2float_rd((threshold.sum - fused_test_error(terms, threshold.sum)) * terms.unit);
}

/// Returns the threshold of a query, increased by what the sum may lose of it, and slightly more, so that no
/// sum that should pass is 0.
__device__ __forceinline__ Parts fused_test_threshold(const FusedTestTerms& terms, float threshold) {
  constexpr double most = spi::most_fused_test_threshold;
  const double units = static_cast<double>(threshold) * terms.to_unit,
               more = units + fused_test_error(terms, units) + 0x1p-23;
  return parts_of<true>(fmax(fmin(more, most * terms.dims), -most * terms.dims));
}

}  // namespace kith::cuda
