// E of docs/certificate.md, section 4, and what follows from it, rounded to the safe side. All sums are of
// numbers that are not negative, so that their few roundings are far below 2^-20 of them.
//
// HALVES   1 where half the squared norm counts, 0 for inner products
#include "bound/bounds.cl"

// Rows of the row terms, as in spi/candidates.hpp.
#define NORM 1
#define QUANTIZED_NORM 2
#define RESIDUAL 3

// What E takes from everything but the training row.
typedef struct {
  float norm, error, quantized_norm;  // the largest of the queries: A, B, S
  float chain;  // 0, or at least the relative error of the chain of inner products, a unit of both norms
  float under;  // at least what underflow takes from a product of rows of norm 0, with chain from both
  float gap_share;
} ErrorTerms;

// What E takes from the number of columns, as the host finds it (ErrorNumbers of the back end).
typedef struct {
  float b;      // at least the relative error of a product
  float chain;  // ErrorTerms
  float under;
  float gap_share;  // of row_gap()
} ErrorNumbers;

// residual + b quantized_norm of a query, but for its two roundings.
float query_error(float residual, float b, float quantized_norm) {
  return residual + b * quantized_norm;
}

float row_error(ErrorTerms of, float residual, float norm, float quantized_norm) {
  const float apart = residual + of.chain * norm;
  const float sum =
      of.norm * apart + of.error * quantized_norm + of.under * (1.0f + of.quantized_norm + quantized_norm);
  return sum * (1.0f + 0x1p-20f);
}

// half_norm - E, or -E.
float row_low(float half_norm, float error) {
  return -next_up(error - (HALVES ? half_norm : 0.0f));
}

// norm^2 / 2 + E - low, or 2 E; or a share of it. One rounding of a square less a number that is hardly
// larger, none of them negative.
float row_gap(float share, float norm, float error, float low) {
  const float width = HALVES ? fma(0.5f * norm, norm, -low) : -low;
  return (width + error) * (1.0f + 0x1p-20f) * share;
}
