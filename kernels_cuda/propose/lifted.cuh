// The test of a sum of bytes without a float: a chip turns few ints into floats at a time.
//
// What passes is low - u s <= threshold in float32 (one rounding), s the sum and u its unit. Then
// low / u - s <= T / u, where T is the float after the threshold, and so
//   s + lift >= floor,  lift >= -low / u,  floor <= -T / u,
// in whole numbers. What passes this is tested again by the float32 form, which decides. With M the largest
// int less most = 2^14 dims, lift is held to -M ... M: no sum overflows; and `floor` to M - most, which
// a sum that wants a larger lift reaches all the same.
// No twin in kernels_cl: there bytes take up to 64 queries, which memory keeps waiting.
#pragma once

#include <cstdint>

#include "common/common.cuh"

namespace kith::cuda {

/// The largest |lift|.
__device__ __forceinline__ double most_lift(std::uint32_t dims) {
  return 2147483647.0 - 16384.0 * dims;
}

/// Of a row, or the least where `low` is NaN.
__device__ __forceinline__ int lift_of(float low, double unit, std::uint32_t dims) {
  const double most = most_lift(dims);
  if (low != low) return static_cast<int>(-most);
  const double lift = 1 - floor(static_cast<double>(low) / unit);  // 1: for the rounding of the quotient
  return static_cast<int>(fmin(fmax(lift, -most), most));
}

/// Of a query; the largest int where the threshold is NaN.
__device__ __forceinline__ int floor_of(float threshold, double unit, std::uint32_t dims) {
  if (threshold != threshold) return 2147483647;
  constexpr double next = 1.0 / (1 << 22);  // more than a step of float32, and the rounding of the quotient
  const double quotient = static_cast<double>(threshold) / unit;
  const double floor = -ceil(quotient + fabs(quotient) * next) - 1;
  return static_cast<int>(fmin(fmax(floor, -2147483648.0), 2 * most_lift(dims) - 2147483647.0));
}

}  // namespace kith::cuda
