// The threshold, from the k-th best value or bound: docs/certificate.md, section 4.
//
// With -D HALVES, half a squared distance of rows of `dims` columns is compared with low - product, where the
// query's own part is missing; otherwise the value itself is compared.
#include "bound/bounds.cl"
#include "kith/spi/product_error.def"

// Rows of the row terms, as in spi/candidates.hpp.
#define HALF_NORM 0
#define NORM 1

// A chain is at most U where half the exact distance is at most (U + dims 2^-149) / (1 - g) / 2.
float threshold_of_chain(float value, uint dims, float half_norm) {
  if (isinf(value)) return INFINITY;
#if DOUBLES
  const double columns = dims, g = KITH_CHAIN_ERROR(columns);
  const double half_value = 0.5 * (value + KITH_CHAIN_UNDERFLOW(columns)) / (1 - g);
  return round_up(half_value - half_norm + (half_value + half_norm) * 0x1p-49);
#else
  const float half_value =
      0.5f * value * (1.0f + (float)(2 * dims + 16) * 0x1p-24f) + (float)dims * 0x1p-140f;
  return half_value - half_norm + (half_value + half_norm) * 0x1p-22f;
#endif
}

// A chain is not behind that of a row at most at `high` where the row is at most at
// (high (1 + g) + g |q'|^2 + dims 2^-149) / (1 - g).
float threshold_of_bound(float high, uint dims, float norm) {
  if (isinf(high)) return INFINITY;
#if DOUBLES
  const double columns = dims, g = KITH_CHAIN_ERROR(columns), square = (double)norm * norm;
  const double sum = (high * (1 + g) + g * square + KITH_CHAIN_UNDERFLOW(columns)) / (1 - g);
  return round_up(sum + (fabs(high) + square) * 0x1p-48);
#else
  // The same is high + c (2 high + |q'|^2) and hardly more, c = b / (1 - 2 b) = b (1 + 2 b / (1 - 2 b)). Less
  // than seven roundings of the second part and two of the sum are below 2^-21 of both.
  const float b = (float)(dims + 2) * 0x1p-24f, c = fma(b, 2 * b / (1 - 2 * b), b), square = norm * norm;
  const float more = c * (2 * high + square) + (float)dims * 0x1p-140f;
  return high + (more + (fabs(high) + c * square) * 0x1p-21f);
#endif
}

// The smaller of `threshold` and what follows from the k-th smallest bound.
//   row_terms  of the query, stride in elements
float threshold_by_bound(float threshold, float high, uint dims, global const float* row_terms,
                         ulong row_terms_stride) {
#ifdef HALVES
  return fmin(threshold, threshold_of_bound(high, dims, row_terms[NORM * row_terms_stride]));
#else
  return fmin(threshold, high);
#endif
}

// What follows from the k-th best value.
float threshold_by_chain(float value, uint dims, global const float* row_terms, ulong row_terms_stride) {
#ifdef HALVES
  return threshold_of_chain(value, dims, row_terms[HALF_NORM * row_terms_stride]);
#else
  return value;
#endif
}
