// Makes the test of collect part of the product: low(x) and threshold(q) become two columns of 16-bit floats
// each, so that the sum of a pair is p - low(x) + threshold(q), and its sign tells whether it passes. The
// twin of kernels_cuda/propose/fused_test.cuh. docs/certificate.md, section 4.
//
//   last columns of a query           -K  -K  t0  t1
//   last columns of a training row    l0  l1   K   K
//
// K = 2^15. l0 + l1 and t0 + t1 are `low` and the threshold in units of K unscale. The first half is the
// one nearest to the number; the second is the rest, rounded to the safe side. Only for devices with
// double precision.
#include "kith/spi/kernel_limits.def"
#include "kith/spi/product_error.def"
#include "propose/product_error.cl"

#define FUSED_TEST_FACTOR 0x7800u  // K (KITH_FUSED_TEST_FACTOR) as a half
#define HALF_INFINITY 0x7C00u
#define MOST_HALF 65504.0

// Values that are the same for all rows of a step.
typedef struct {
  double unit;  // K unscale, a power of two
  double b;     // error of a sum, relative to the magnitudes that are added
  double dims;
} FusedTestTerms;

// Two halves whose sum is a number of at most 2 * 65504, or slightly more on its safe side.
typedef struct {
  uint both;  // the first half is in the low bits
  double sum;
} Parts;

double within(double value, double least, double most) {
  return fmax(fmin(value, most), least);
}

Parts parts_of(double value, bool up) {
  ushort parts[2];
  vstore_half_rte((float)within(value, -MOST_HALF, MOST_HALF), 0, (half*)parts);
  const double first = vload_half(0, (const half*)parts);
  const double left = within(value - first, -MOST_HALF, MOST_HALF);
  if (up)
    vstore_half_rtp(round_up(left), 1, (half*)parts);
  else
    vstore_half_rtn(round_down(left), 1, (half*)parts);
  const Parts made = {parts[0] | (uint)parts[1] << 16, first + (double)vload_half(1, (const half*)parts)};
  return made;
}

// Returns what a sum may lose of a number, both in units: the magnitudes of its parts, which have opposite
// signs only where it is tiny, are aligned as no less than KITH_LEAST_ALIGNED_HALF each.
double fused_test_error(FusedTestTerms terms, double units) {
  return terms.b * (fabs(units) * (1.0 + 0x1p-10) + 4 * KITH_LEAST_ALIGNED_HALF);
}

// Returns `low` of a row, reduced by what the sum may lose of it.
Parts fused_test_low(FusedTestTerms terms, double low) {
  const double units = low / terms.unit;
  return parts_of(
      within(units - fused_test_error(terms, units),
             -(double)(KITH_MOST_FUSED_TEST_THRESHOLD + KITH_MOST_FUSED_TEST_PRODUCT) * terms.dims,
             KITH_MOST_FUSED_TEST_LOW * terms.dims),
      false);
}

// Returns the threshold of a query, increased by what the sum may lose of it, and slightly more, so that no
// sum that should pass is 0.
Parts fused_test_threshold(FusedTestTerms terms, float threshold) {
  const double most = KITH_MOST_FUSED_TEST_THRESHOLD * terms.dims,
               wide = within(threshold / terms.unit, -most, most);
  return parts_of(wide + fused_test_error(terms, wide) + 0x1p-23, true);
}
