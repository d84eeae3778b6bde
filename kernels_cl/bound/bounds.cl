// Numbers that are rounded to the safe side: docs/certificate.md.
//
// Devices with double precision compute in it and round once. Others sum in single precision, and move the
// sum by more than its rounding error can be. -D NO_DOUBLES treats a device as one of the others.
// No twin in kernels_cuda: instructions round to either side there, and every device has double precision.
#include "common/common.cl"

#if defined(cl_khr_fp64) && !defined(NO_DOUBLES)
#define DOUBLES 1
typedef double Sum;
#else
#define DOUBLES 0
typedef float Sum;
#endif

// Returns the next float above `x`, which is less than infinity and not NaN.
float next_up(float x) {
  const uint bits = as_uint(x == 0.0f ? 0.0f : x);
  return as_float(bits >> 31 ? bits - 1 : bits + 1);
}

#if DOUBLES
float round_up(double x) {
  const float near = (float)x;
  return (double)near < x ? next_up(near) : near;
}

float round_down(double x) {
  return -round_up(-x);
}
#endif

// The next functions bound a sum of `dims` squares: half of it from below, and its root from above. In double
// precision the sum has a relative error of at most (dims + 2) 2^-53; in single precision at most (dims + 4)
// 2^-24, plus dims 2^-150. The last three bits of sqrt() may be wrong.
float half_at_most(Sum sum, uint dims) {
#if DOUBLES
  return round_down(0.5 * sum * (1.0 - (dims + 10) * 0x1p-53));
#else
  const float near = 0.5f * sum * (1.0f - (float)(2 * dims + 16) * 0x1p-24f);
  return fmax(0.0f, near - (float)dims * 0x1p-140f);
#endif
}

float root_at_least(Sum sum, uint dims) {
#if DOUBLES
  return round_up(sqrt(sum * (1.0 + (dims + 10) * 0x1p-53)) * (1.0 + 0x1p-50));
#else
  const float above = sum * (1.0f + (float)(2 * dims + 16) * 0x1p-24f) + (float)dims * 0x1p-140f;
  return sqrt(above) * (1.0f + 0x1p-20f);
#endif
}
