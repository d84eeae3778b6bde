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

/// Returns a raw value that is near the bound, for an angle that costs as much as hundreds of other
/// distances: of unit rows, or points of a sphere, the raw value is the square of 2 sin(angle / 2).
template <class Real>
Real near_bound(double radius) {
  constexpr double half_turn = 0x1.921fb54442d18p1;
  if (!(radius > 0)) return 0;
  if (radius >= half_turn) return std::numeric_limits<Real>::max();
  auto shown = static_cast<Real>(radius);
  if (static_cast<double>(shown) > radius) shown = std::nextafter(shown, Real{0});
  const Real next = std::nextafter(shown, std::numeric_limits<Real>::max());
  // Angles up to the middle of two numbers are shown as the lower one.
  const double angle =
      static_cast<double>(shown) + (static_cast<double>(next) - static_cast<double>(shown)) / 2;
  const double chord = 2 * std::sin(angle / 2);
  return static_cast<Real>(chord * chord);
}

/// Moves `within` and `beyond` to both sides of the bound: from `near` by steps that double.
template <class Code, class IsBeyond>
void bracket(Code near, Code& within, Code& beyond, const IsBeyond& is_beyond) {
  const bool down = is_beyond(near);
  (down ? beyond : within) = near;
  for (Code step = 1; beyond - within > step; step *= 2) {
    const Code next = down ? near - step : near + step;
    const bool is = is_beyond(next);
    (is ? beyond : within) = next;
    if (is != down || step > (std::numeric_limits<Code>::max() >> 2)) return;
    near = next;
  }
}

}  // namespace

template <class Real>
Real bound_of(ShownBy shown, double radius, bool strict) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  const auto is_beyond = [&](Real value) {
    const auto distance = static_cast<double>(finish(shown, value));
    return strict ? distance >= radius : distance > radius;
  };
  // Distances do not decrease when the raw value grows, so a binary search works. No row has a negative value
  // under a root, for which the distance is a NaN and neither comparison holds.
  auto within = ordered(-infinity), beyond = ordered(infinity) + 1;
  if (compares_bits(shown.metric) && shown.parameter != 0)
    beyond = ordered(-std::numeric_limits<Real>::denorm_min()) + 1;  // codes are below 0
  if (shows_angles(shown.metric))
    bracket(ordered(near_bound<Real>(radius)), within, beyond,
            [&](auto code) { return is_beyond(unordered_as(code)); });
  while (beyond - within > 1) {
    const auto middle = within + (beyond - within) / 2;
    (is_beyond(unordered_as(middle)) ? beyond : within) = middle;
  }
  return unordered_as(within);
}

template float bound_of<float>(ShownBy, double, bool);
template double bound_of<double>(ShownBy, double, bool);

template <class Real>
Real bound_of_search(std::string_view where, ShownBy shown, double radius) {
  const FloatGuard guard;
  if (std::isnan(radius)) refuse(where, "radius is NaN; give a number, or leave it out");
  return bound_of<Real>(shown, radius);
}

template float bound_of_search<float>(std::string_view, ShownBy, double);
template double bound_of_search<double>(std::string_view, ShownBy, double);

}  // namespace kith
