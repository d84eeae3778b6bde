// Computes the threshold of a query from its k-th best value or bound: docs/certificate.md, section 4.
//
// With -D HALVES the threshold is compared with low - product, which is half of the squared distance of rows
// of `dims` columns, without the query's own norm; otherwise it is compared with the value itself.
#include "bound/bounds.cl"
#include "kith/spi/product_error.def"

// Rows of the row terms, numbered as in spi/candidates.hpp.
#define HALF_NORM 0
#define NORM 1

// A chain is at most U only if half the exact distance is at most (U + dims 2^-149) / (1 - g) / 2.
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

// The chain of a row is at most that of another, whose upper bound is `high`, only if the exact value of the
// former is at most (high (1 + g) + g |q'|^2 + dims 2^-149) / (1 - g).
float threshold_of_bound(float high, uint dims, float norm) {
  if (isinf(high)) return INFINITY;
#if DOUBLES
  const double columns = dims, g = KITH_CHAIN_ERROR(columns), square = (double)norm * norm;
  const double sum = (high * (1 + g) + g * square + KITH_CHAIN_UNDERFLOW(columns)) / (1 - g);
  return round_up(sum + (fabs(high) + square) * 0x1p-48);
#else
  // This equals high + c (2 high + |q'|^2), or slightly more, with c = b / (1 - 2 b) = b (1 + 2 b / (1 - 2
  // b)). The second term has fewer than seven roundings and the sum has two; together they are below 2^-21
  // of both.
  const float b = (float)(dims + 2) * 0x1p-24f, c = fma(b, 2 * b / (1 - 2 * b), b), square = norm * norm;
  const float more = c * (2 * high + square) + (float)dims * 0x1p-140f;
  return high + (more + (fabs(high) + c * square) * 0x1p-21f);
#endif
}

// Returns the smaller of `threshold` and the threshold for the k-th smallest bound.
//   row_terms  of the query, stride in elements
float threshold_by_bound(float threshold, float high, uint dims, global const float* row_terms,
                         ulong row_terms_stride) {
#ifdef HALVES
  return fmin(threshold, threshold_of_bound(high, dims, row_terms[NORM * row_terms_stride]));
#else
  return fmin(threshold, high);
#endif
}

// Returns the threshold for the k-th best value.
float threshold_by_chain(float value, uint dims, global const float* row_terms, ulong row_terms_stride) {
#ifdef HALVES
  return threshold_of_chain(value, dims, row_terms[HALF_NORM * row_terms_stride]);
#else
  return value;
#endif
}
