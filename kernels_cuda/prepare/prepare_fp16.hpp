// How numbers are kept in shadows of 16-bit floats, and what follows for the bound of their products:
// docs/certificate.md, sections 2 and 3.
#pragma once

#include "prepare/half_shape.hpp"

namespace kith::cuda {

/// Of up to so many dimensions a number is split, high = half(v), low = half(v - high), and has four columns:
/// high, low, high, low of a training row, high, high, low, low of a query. So the product of the lines is
/// that of the sums of both parts, and all of it is one step of 16 columns.
inline constexpr std::uint32_t most_split_dims = 4;

/// Columns a row may have, so that roundings that follow on roundings are few beside 1 / u.
inline constexpr std::uint32_t fp16_max_dims = 1u << 20;

/// Columns that are not padding: products that are added for a pair of rows.
constexpr std::uint32_t half_terms(std::uint32_t dims) {
  return dims <= most_split_dims ? 4 * dims : dims;
}

/// What the error of a product is multiplied by since roundings follow on roundings and, where numbers are
/// split, since the magnitudes of their parts add up to more than they do.
constexpr double half_excess(std::uint32_t dims) {
  return dims <= most_split_dims ? 1.0 + 0x1p-8 : 1.0 + 0x1p-10;
}

}  // namespace kith::cuda
