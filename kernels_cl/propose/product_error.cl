// Computes the error bound E of docs/certificate.md, section 4, and `low` and `gap` from it, rounded to the
// safe side. All sums have terms that are not negative, so that their few rounding errors are far below 2^-20
// of them.
//
// HALVES   1 for squared distances, which contain half the squared norm; 0 for inner products
#include "bound/bounds.cl"

// Rows of the row terms, numbered as in spi/candidates.hpp.
#define NORM 1
#define QUANTIZED_NORM 2
#define RESIDUAL 3

// Terms of E that do not depend on the training row.
typedef struct {
  float norm, error, quantized_norm;  // the largest terms of the queries: A, B, S
  float chain;  // 0, or an upper bound of the error of the chain of inner products, relative to both norms
  float under;  // an upper bound of underflow in a product of rows of norm 0, and in its chain
  float gap_share;
} ErrorTerms;

// Terms of E that depend on the number of columns; the host computes them (ErrorNumbers of the back end).
typedef struct {
  float b;      // an upper bound of the relative error of a product
  float chain;  // see ErrorTerms
  float under;
  float gap_share;  // a factor of row_gap()
} ErrorNumbers;

// Returns residual + b quantized_norm of a query, without accounting for its two roundings.
float query_error(float residual, float b, float quantized_norm) {
  return residual + b * quantized_norm;
}

float row_error(ErrorTerms of, float residual, float norm, float quantized_norm) {
  const float apart = residual + of.chain * norm;
  const float sum =
      of.norm * apart + of.error * quantized_norm + of.under * (1.0f + of.quantized_norm + quantized_norm);
  return sum * (1.0f + 0x1p-20f);
}

// Returns half_norm - E, or -E for inner products, rounded down.
float row_low(float half_norm, float error) {
  return -next_up(error - (HALVES ? half_norm : 0.0f));
}

// Returns norm^2 / 2 + E - low, or 2 E for inner products, times `share`. The difference of the square and
// `low` has a single rounding; neither it nor E is negative.
float row_gap(float share, float norm, float error, float low) {
  const float width = HALVES ? fma(0.5f * norm, norm, -low) : -low;
  return (width + error) * (1.0f + 0x1p-20f) * share;
}
