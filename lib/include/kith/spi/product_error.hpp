// Bounds the error of products of quantized rows: b of docs/certificate.md, section 3, for each kind of
// kernel, and the other terms of the proof that depend on the number of columns. All are rounded to the
// safe side.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "kith/selector.hpp"
#include "kith/spi/kernel_limits.hpp"
#include "kith/spi/product_error.def"

namespace kith::spi {

/// Returns the smallest float that is not below `value`; +infinity for NaN and for values above all floats.
inline float float_above(double value) {
  constexpr float most = std::numeric_limits<float>::max(), infinity = std::numeric_limits<float>::infinity();
  if (!(value <= static_cast<double>(most))) return infinity;
  const float nearest = static_cast<float>(std::fmax(value, -static_cast<double>(most)));
  return static_cast<double>(nearest) < value ? std::nextafter(nearest, infinity) : nearest;
}

/// Returns at least g of section 1. It is below 1 up to 2^23 - 3 columns; beyond that bounds have no meaning.
inline double chain_error(std::size_t dims) {
  // The sum and the difference are exact.
  return std::nextafter(KITH_CHAIN_ERROR(static_cast<double>(dims)), std::numeric_limits<double>::max());
}

/// Returns eta of section 1, exactly.
constexpr double chain_underflow(std::size_t dims) {
  return KITH_CHAIN_UNDERFLOW(static_cast<double>(dims));
}

/// Returns the loss by underflow in a product of rows of norm 0, exactly; for inner products the chain loses
/// as much once more.
constexpr double product_underflow(std::size_t dims, bool squared) {
  return KITH_PRODUCT_UNDERFLOW(static_cast<double>(dims)) * (squared ? 1 : 2);
}

/// Is the size as which tensor cores align 16-bit floats that are smaller, 0 among them.
inline constexpr float least_aligned_half = KITH_LEAST_ALIGNED_HALF;

/// Returns how many products fp16 adds for a pair of rows, without padding. Up to most_split_dims columns,
/// every number is the sum of two 16-bit floats and fills four columns: section 2.
template <class Count>
constexpr Count half_terms(Count dims) {
  return dims <= most_split_dims ? 4 * dims : dims;
}

/// Returns how many steps of 16 columns rows, and low or the threshold, take if the test is part of the
/// product: section 4.
template <class Count>
constexpr Count fused_test_steps(Count dims) {
  return (half_terms(dims) + fused_test_columns + 15) / 16;
}

/// Names kinds of kernels by the error of their products.
enum class ProductKind : std::uint8_t {
  sums,                ///< gemm, dot, bf16: sums in single precision, in any order
  halves,              ///< fp16: adds eight products and the sum so far at once, on tensor cores
  halves_small_batch,  ///< fp16 for up to small_batch queries: columns in another order
  halves_fused_test,   ///< fp16 for up to most_fused_test_dims columns, with the test as part of the product
  bytes,               ///< int8, int4: exact sums, converted to floats
};

/// Returns whether products of a proposer are sums of whole numbers.
constexpr bool multiplies_bytes(Proposer proposer) {
  return proposer == Proposer::int8 || proposer == Proposer::int4;
}

/// Returns b, relative to the product of both norms.
inline double product_error(ProductKind kind, std::size_t dims) {
  constexpr double u = KITH_UNIT;
  // These factors cover that rounded numbers are rounded again, and that the magnitudes of the parts of split
  // numbers add up to more than those of the numbers.
  constexpr double of_roundings = 1 + 0x1p-10, of_parts = 1 + 0x1p-8;
  const double excess = dims <= most_split_dims ? of_parts : of_roundings;
  const std::size_t terms = half_terms(dims);
  const std::size_t eights = (terms + 7) / 8, pieces = (dims + 31) / 32;
  const double halves = 12 * static_cast<double>(eights) * u * excess;
  switch (kind) {
    case ProductKind::sums:
      return chain_error(dims);
    case ProductKind::halves:
      return halves;
    case ProductKind::halves_small_batch: {
      // A step of 16 columns adds two groups of eight. Pieces of the rows cross the borders of such steps, so
      // that few columns may take more groups than they would fill.
      const double most_eights = dims <= 16 ? 2 : 4 * static_cast<double>(pieces);
      return std::max(halves, (static_cast<double>(terms) + 3 * most_eights) * u * excess);
    }
    case ProductKind::halves_fused_test:
      return 12 * 2 * static_cast<double>(fused_test_steps(dims)) * u * of_parts;
    case ProductKind::bytes:
      return 4 * u;
  }
  return std::numeric_limits<double>::infinity();
}

/// Returns the largest b of the kernels that a search by `proposer` may use.
inline double largest_product_error(Proposer proposer, std::size_t dims) {
  if (multiplies_bytes(proposer)) return product_error(ProductKind::bytes, dims);
  if (proposer != Proposer::fp16) return product_error(ProductKind::sums, dims);
  const double apart =
      product_error(ProductKind::halves_small_batch, dims);  // at least that of ProductKind::halves
  return dims <= most_fused_test_dims ? std::max(apart, product_error(ProductKind::halves_fused_test, dims))
                                      : apart;
}

}  // namespace kith::spi
