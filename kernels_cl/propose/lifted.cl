// Tests a sum of bytes without a float, because the device converts few ints to floats at a time. The twin of
// kernels_cuda/propose/lifted.cuh, which says why no row is lost.
//
// A sum s of products of bytes goes on if s + lift >= floor, where the row has the lift and the query the
// floor. It is then tested again in float32, which decides. Let M be the largest int less most = 2^14
// dims. lift is limited to -M ... M, so that no sum overflows, and `floor` to M - most. `dims` may be
// larger for floors than for lifts. Only for devices with double precision.
#include "common/common.cl"

// Returns the largest |lift|.
double most_lift(uint dims) {
  return 2147483647.0 - 16384.0 * dims;
}

// Returns the lift of a row; the least one if `low` is NaN.
int lift_of(float low, float unit, uint dims) {
  const double most = most_lift(dims);
  if (isnan(low)) return (int)-most;
  const double lift = 1 - floor((double)low / unit);  // 1 covers the rounding of the quotient
  return (int)fmin(fmax(lift, -most), most);
}

// Returns the floor of a query; the largest int if the threshold is NaN.
int floor_of(float threshold, float unit, uint dims) {
  if (isnan(threshold)) return 2147483647;
  const double next = 0x1p-22;  // covers a step of float32 and the rounding of the quotient
  const double quotient = (double)threshold / unit;
  const double least = -ceil(quotient + fabs(quotient) * next) - 1;
  return (int)fmin(fmax(least, -2147483648.0), 2 * most_lift(dims) - 2147483647.0);
}
