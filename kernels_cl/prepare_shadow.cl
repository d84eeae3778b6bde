// What shadows that are scaled and rounded have in common: what is known of their rows. Only for devices with
// double precision. docs/certificate.md, section 2.
#include "bounds.cl"

#define BLOCK 32         // rows of a work-group
#define PARTS 8          // items a row
#define SHADOW_ROWS 128  // of a block of the shadow

// Rows of the facts, as in spi.hpp.
#define HALF_NORM 0
#define NORM 1
#define SHADOW_NORM 2
#define RESIDUAL 3

// From the sums of squares of x - c, of x~ and of x - c - x~.
//   inexact  at least the relative error that x~ has in double precision, at most 2^-50; 0 where it has none
void write_facts(global float* facts, ulong stride, double moved, double shadow, double residual, uint dims,
                 double inexact) {
  const float norm = root_at_least(moved, dims), shadow_norm = root_at_least(shadow, dims);
  facts[HALF_NORM * stride] = half_at_most(moved, dims);
  facts[NORM * stride] = norm;
  facts[SHADOW_NORM * stride] = shadow_norm;
  // x - c was rounded to double, and so was its distance from the shadow.
  facts[RESIDUAL * stride] = round_up((double)root_at_least(residual, dims) + (double)norm * 0x1p-51 +
                                      (double)shadow_norm * inexact);
}

// Of the items of a row.
double sum_of_row(local const double* sums, uint x) {
  double sum = 0;
  for (uint i = 0; i < PARTS; ++i) sum += sums[i * BLOCK + x];
  return sum;
}
