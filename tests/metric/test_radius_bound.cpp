// Tests bounds of radii beside a bisection of all numbers, which begins with no estimate.
#include "metric/radius_bound.hpp"

#include <cmath>
#include <limits>
#include <random>

#include "base/float_guard.hpp"
#include "common/test.hpp"
#include "kith/key.hpp"
#include "metric/chain.hpp"

namespace kith::tests {
namespace {

float number_of(std::uint32_t code) {
  return unordered(code);
}
double number_of(std::uint64_t code) {
  return unordered_double(code);
}

template <class Real>
Real bisected(Metric metric, double radius, bool strict) {
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  auto within = ordered(-infinity), beyond = ordered(infinity) + 1;
  while (beyond - within > 1) {
    const auto middle = within + (beyond - within) / 2;
    const auto distance = static_cast<double>(finish(ShownBy(metric), number_of(middle)));
    ((strict ? distance >= radius : distance > radius) ? beyond : within) = middle;
  }
  return number_of(within);
}

template <class Real>
void check_bound(Metric metric, double radius) {
  for (const bool strict : {false, true}) {
    CAPTURE(radius);
    CAPTURE(strict);
    CHECK(bound_of<Real>(ShownBy(metric), radius, strict) == bisected<Real>(metric, radius, strict));
  }
}

TEST_CASE("radius bounds: those of angles are those of a bisection") {
  const FloatGuard guard;
  std::mt19937 random(46);
  std::uniform_real_distribution<double> angle(0, 3.2), exponent(-60, 3);
  constexpr double half_turn = 0x1.921fb54442d18p1, infinity = std::numeric_limits<double>::infinity();
  std::vector<double> radii{0,        -0.0,   -1e-300, -0.5,      -infinity,
                            infinity, 1e-320, 1e-45,   half_turn, 3.14159274101257324,
                            0x1p-26,  1e300,  1,       2,         0x1.6a09e667f3bcdp0};
  for (const double middle : {half_turn, half_turn / 2, 1e-8})
    for (const double to : {0.0, 4.0}) radii.push_back(std::nextafter(middle, to));
  for (int turn = 0; turn < 300; ++turn) {
    radii.push_back(angle(random));
    radii.push_back(static_cast<double>(static_cast<float>(angle(random))));
    radii.push_back(std::exp2(exponent(random)));
    radii.push_back(half_turn - std::exp2(exponent(random)));
  }
  for (const Metric metric : {Metric::angular, Metric::haversine})
    for (const double radius : radii) {
      check_bound<double>(metric, radius);
      check_bound<float>(metric, radius);
    }
}

}  // namespace
}  // namespace kith::tests
