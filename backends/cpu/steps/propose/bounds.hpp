// Numbers that are rounded to the safe side, for the certificate of a proposer: docs/certificate.md.
#pragma once

#include <cmath>
#include <cstddef>
#include <limits>

#include "kith/metric.hpp"
#include "kith/spi/product_error.hpp"

namespace kith::cpu {

/// Half a unit in the last place of 1.
inline constexpr double unit_of_double = 0x1p-53;

using spi::float_above;

/// Returns the largest float that is not above `value`, but at least 0; 0 for NaN.
inline float float_below(double value) {
  constexpr float most = std::numeric_limits<float>::max();
  if (!(value > 0)) return 0;
  const float nearest = static_cast<float>(std::fmin(value, static_cast<double>(most)));
  return static_cast<double>(nearest) > value ? std::nextafter(nearest, 0.0f) : nearest;
}

/// How distances by a metric are computed from inner products.
enum class FromProducts {
  not_at_all,
  as_squares,   ///< |q - x|^2 = |q|^2 + |x|^2 - 2 q.x
  as_they_are,  ///< -q.x
};

inline FromProducts from_products(Metric metric) {
  if (sums_squares(metric)) return FromProducts::as_squares;
  return metric == Metric::negative_dot ? FromProducts::as_they_are : FromProducts::not_at_all;
}

}  // namespace kith::cpu
