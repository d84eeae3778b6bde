// Converts a row into a quantized row by subtracting the centre c. docs/certificate.md, section 2.
//
// LANE is a float, or with -D LANES=n a vector of n floats, each from another row.
// No twin in kernels_cuda: only prepare.cu needs this.
#include "bound/bounds.cl"

#ifdef LANES
#define GLUE_NOW(a, b) a##b
#define GLUE(a, b) GLUE_NOW(a, b)
#define LANE GLUE(float, LANES)
#if DOUBLES
#define SUMS GLUE(double, LANES)
#define WIDEN GLUE(convert_double, LANES)
#else
#define SUMS LANE
#define WIDEN
#endif
#else
#define LANE float
#define SUMS Sum
#define WIDEN (Sum)
#endif

// Rows of the row terms, numbered as in spi/candidates.hpp.
#define HALF_NORM 0
#define NORM 1

// Returns x~ = fl(x - c). Adds the squares of x' = x - c, of x~ and of x' - x~ to the sums; x' - x~ is a
// float, because it is the error of one subtraction (TwoSum: Moller 1965, Knuth 1969).
LANE quantized_of(LANE x, float centre, SUMS* moved, SUMS* quantized, SUMS* residual) {
  const LANE c = (LANE)(centre);
  const LANE near = x - c;
  const LANE back = near - x;
  const LANE error = (x - (near - back)) - (c + back);
  const SUMS exact = WIDEN(x) - WIDEN(c), wide_near = WIDEN(near), wide_error = WIDEN(error);
  *moved += exact * exact;
  *quantized += wide_near * wide_near;
  *residual += wide_error * wide_error;
  return near;
}

// Writes the row terms that follow from a sum of squares of a row: sum 0 is that of x', 1 of x~, 2 of x'
// - x~.
void store_row_terms(global float* row_terms, ulong stride, uint which, Sum sum, uint dims) {
  if (which == 0) row_terms[HALF_NORM * stride] = half_at_most(sum, dims);
  row_terms[(NORM + which) * stride] = root_at_least(sum, dims);
}
