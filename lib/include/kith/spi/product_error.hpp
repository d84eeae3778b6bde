// How far products of quantized rows may be from the exact ones: b of docs/certificate.md, section 3, for
// each kind of kernel, and what else the proof takes from the number of columns. All of it is rounded to the
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

/// The smallest float that is not below `value`; +infinity for NaN and for what no float reaches.
inline float float_above(double value) {
  constexpr float most = std::numeric_limits<float>::max(), infinity = std::numeric_limits<float>::infinity();
  if (!(value <= static_cast<double>(most))) return infinity;
  const float nearest = static_cast<float>(std::fmax(value, -static_cast<double>(most)));
  return static_cast<double>(nearest) < value ? std::nextafter(nearest, infinity) : nearest;
}

/// At least g of section 1. Below 1 up to 2^23 - 3 columns; else a bound means nothing.
inline double chain_error(std::size_t dims) {
  // The sum and the difference are exact.
  return std::nextafter(KITH_CHAIN_ERROR(static_cast<double>(dims)), std::numeric_limits<double>::max());
}

/// eta of section 1, exactly.
constexpr double chain_underflow(std::size_t dims) {
  return KITH_CHAIN_UNDERFLOW(static_cast<double>(dims));
}

/// What underflow takes from a product of rows of norm 0, exactly; of inner products the chain loses as much
/// once more.
constexpr double product_underflow(std::size_t dims, bool squared) {
  return KITH_PRODUCT_UNDERFLOW(static_cast<double>(dims)) * (squared ? 1 : 2);
}

/// Columns of quantized rows of fp16 that are not padding: products that are added for a pair of rows. Of up
/// to most_split_dims columns every number is the sum of two 16-bit floats and fills four: section 2.
template <class Count>
constexpr Count half_terms(Count dims) {
  return dims <= most_split_dims ? 4 * dims : dims;
}

/// Steps of 16 columns that rows, and low or the threshold, take where the test is part of the product:
/// section 4.
template <class Count>
constexpr Count fused_test_steps(Count dims) {
  return (half_terms(dims) + fused_test_columns + 15) / 16;
}

/// Kernels by what they lose of a product.
enum class ProductKind : std::uint8_t {
  sums,                ///< gemm, dot, bf16: sums in single precision, in whatever order
  halves,              ///< fp16: eight products and the sum so far at once, on tensor cores
  halves_small_batch,  ///< the same of up to small_batch queries: columns in another order
  halves_fused_test,   ///< the same of up to most_fused_test_dims columns, with the test as part of the
                       ///< product
  bytes,               ///< int8: exact sums, which become floats
};

/// b, a unit of both norms.
inline double product_error(ProductKind kind, std::size_t dims) {
  constexpr double u = KITH_UNIT;
  // Roundings follow on roundings, and the magnitudes of the parts of split numbers add up to more than
  // these.
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
      // A step of 16 columns adds two eights; pieces of the rows lie across such steps, so that few columns
      // may come in more eights than they would fill.
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

/// The largest b of the kernels that a search by `proposer` may take.
inline double largest_product_error(Proposer proposer, std::size_t dims) {
  if (proposer == Proposer::int8) return product_error(ProductKind::bytes, dims);
  if (proposer != Proposer::fp16) return product_error(ProductKind::sums, dims);
  const double apart =
      product_error(ProductKind::halves_small_batch, dims);  // at least that of ProductKind::halves
  return dims <= most_fused_test_dims ? std::max(apart, product_error(ProductKind::halves_fused_test, dims))
                                      : apart;
}

}  // namespace kith::spi
