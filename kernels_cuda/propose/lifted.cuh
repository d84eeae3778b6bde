// Tests a sum of bytes without a float, because the device converts few ints to floats at a time.
//
// A sum s with unit u passes if low - u s <= threshold in float32 (one rounding). Then low / u - s <= T / u,
// where T is the float after the threshold, and therefore, in whole numbers,
//   s + lift >= floor,  lift >= -low / u,  floor <= -T / u.
// What passes this test is tested again in float32, which decides. Let M be the largest int less most = 2^14
// dims. lift is limited to -M ... M, so that no sum overflows, and `floor` to M - most, which a sum with a
// limited lift reaches as well. Where there is no query or no row, sums may be of anything and overflow; they
// are refused when they are tested again.
#pragma once

#include <cstdint>

#include "common/common.cuh"

namespace kith::cuda {

/// Returns the largest |lift|.
__device__ __forceinline__ double most_lift(std::uint32_t dims) {
  return 2147483647.0 - 16384.0 * dims;
}

/// Returns the lift of a row; the least one if `low` is NaN.
__device__ __forceinline__ int lift_of(float low, double unit, std::uint32_t dims) {
  const double most = most_lift(dims);
  if (low != low) return static_cast<int>(-most);
  const double lift = 1 - floor(static_cast<double>(low) / unit);  // 1 covers the rounding of the quotient
  return static_cast<int>(fmin(fmax(lift, -most), most));
}

/// Returns the floor of a query; the largest int if the threshold is NaN.
__device__ __forceinline__ int floor_of(float threshold, double unit, std::uint32_t dims) {
  if (threshold != threshold) return 2147483647;
  constexpr double next = 1.0 / (1 << 22);  // covers a step of float32 and the rounding of the quotient
  const double quotient = static_cast<double>(threshold) / unit;
  const double floor = -ceil(quotient + fabs(quotient) * next) - 1;
  return static_cast<int>(fmin(fmax(floor, -2147483648.0), 2 * most_lift(dims) - 2147483647.0));
}

}  // namespace kith::cuda
