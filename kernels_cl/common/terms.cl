// Terms of columns other than periodic ones, as metrics.def writes them: common/metric.cl includes this with
// -D MIXED. Roots and quotients are correctly rounded, however inaccurate those of the device are.
// No twin in kernels_cuda: common/metric.cuh has them.
#include "common/root.cl"

float above_0(float x) {
  return x > 0.0f ? 1.0f : x;
}

// Returns the float nearest to x / y for 0 <= x <= y; 0 if both are 0. Both become whole numbers of 24 bits
// times powers of two, and their quotient one of 24 bits and a remainder. It is at least 2^-25 if x, the
// rounded difference of two floats, is not 0 and y is their rounded sum: floats that differ do so by at
// least 2^-24 of the larger one, and y is at most twice that. So no quotient is subnormal.
float quotient(float x, float y) {
  if (!(x > 0.0f)) return 0.0f;
  int ex, ey;
  const ulong mx = fraction_of(x, &ex), my = fraction_of(y, &ey);
  const int shift = mx < my ? 24 : 23;
  const ulong whole = mx << shift;
  ulong q = whole / my;
  const ulong rest = whole - q * my;
  if (2 * rest > my || (2 * rest == my && (q & 1) != 0)) ++q;
  return as_float((uint)((ex - ey - shift + 150) << 23) + ((uint)q - 0x800000u));
}

#define KITH_METRIC(id, prepare, start, accumulate, finish)
#define KITH_CATEGORY(term)    \
  float category(float near) { \
    return term;               \
  }
#define KITH_CANBERRA(code, term)    \
  float canberra(float a, float b) { \
    return term;                     \
  }                                  \
  bool is_canberra(float p) {        \
    return p == code;                \
  }
#include "kith/metrics.def"
#undef KITH_CANBERRA
#undef KITH_CATEGORY

float power(float near, int halves) {
  switch (halves) {
#define KITH_POWER(halves, term) \
  case halves:                   \
    return term;
#include "kith/metrics.def"
#undef KITH_POWER
    default:
      return near;
  }
}
#undef KITH_METRIC

// Returns the term of a column with the parameter p.
float mixed_term(float near, float far, float p) {
  if (p > 0.0f) return periodic(near, far, p);
  return p == 0.0f ? category(near) : power(near, (int)-p);
}
