#include "metric/radius_bound.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/float_guard.hpp"
#include "base/refuse.hpp"
#include "kith/key.hpp"
#include "metric/chain.hpp"

namespace kith {
namespace {

float unordered_as(std::uint32_t code) {
  return unordered(code);
}
double unordered_as(std::uint64_t code) {
  return unordered_double(code);
}

}  // namespace

template <class Real>
Real bound_of(Metric metric, double radius, bool strict) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const auto is_beyond = [&](Real value) {
    const auto distance = static_cast<double>(finish(metric, value));
    return strict ? distance >= radius : distance > radius;
  };
  // Distances do not decrease when the raw value grows, so a binary search works. No row has a negative value
  // under a root, for which the distance is a NaN and neither comparison holds.
  auto within = ordered(-infinity), beyond = ordered(infinity) + 1;
  while (beyond - within > 1) {
    const auto middle = within + (beyond - within) / 2;
    (is_beyond(unordered_as(middle)) ? beyond : within) = middle;
  }
  return unordered_as(within);
}

template float bound_of<float>(Metric, double, bool);
template double bound_of<double>(Metric, double, bool);

template <class Real>
Real bound_of_search(std::string_view where, Metric metric, double radius) {
  const FloatGuard guard;
  if (std::isnan(radius)) refuse(where, "radius is NaN; give a number, or leave it out");
  return bound_of<Real>(metric, radius);
}

template float bound_of_search<float>(std::string_view, Metric, double);
template double bound_of_search<double>(std::string_view, Metric, double);

}  // namespace kith
