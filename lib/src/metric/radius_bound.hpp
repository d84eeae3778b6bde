// Turns a radius, which compares with distances as users see them, into a bound on raw values.
#pragma once

#include <cstdint>
#include <string_view>

#include "kith/metric.hpp"

namespace kith {

/// Returns the largest raw value whose distance is at most `radius`, so that a device finds exactly the rows
/// whose shown distances are within it. Must run under FloatGuard.
///   Real    float, or double in double precision
///   strict  the distance must be below `radius` instead
template <class Real>
Real bound_of(ShownBy shown, double radius, bool strict = false);

/// Operations of the host that a bound of these distances costs, about.
constexpr std::int64_t work_of_bound(Metric metric) {
  return shows_angles(metric) ? 1 << 14 : 1 << 8;
}

/// Does the same for SearchOptions::radius, under a FloatGuard of its own. Throws invalid_argument: a NaN.
template <class Real>
Real bound_of_search(std::string_view where, ShownBy shown, double radius);

}  // namespace kith
