// Tests correctly rounded roots of sums of powers: docs/contract.md, section 1.
#include "metric/roots.hpp"

#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

#include "common/test.hpp"

namespace kith::tests {
namespace {

TEST_CASE("roots: of whole powers they are exact, in both widths") {
  for (int halves = 1; halves <= 16; ++halves)
    for (int root = 1; root < 8; ++root) {
      const double square = root * root;  // whose power of halves / 2 is whole
      const double power = std::pow(root, halves);
      CHECK(rounded_root(power, halves) == square);
      if (power < 16777216)
        CHECK(rounded_root(static_cast<float>(power), halves) == static_cast<float>(square));
    }
}

TEST_CASE("roots: floats are the nearest to those in double precision") {
  std::mt19937 random(95);
  for (int turn = 0; turn < 20000; ++turn) {
    const auto s = std::bit_cast<float>(1 + static_cast<std::uint32_t>(random() % 0x7F7FFFFE));
    const int halves = 3 + static_cast<int>(random() % 14);
    const double wide = rounded_root(static_cast<double>(s), halves);
    // A root in double precision decides unless it seems to be the middle of two floats.
    const auto bits = std::bit_cast<std::uint64_t>(wide);
    if ((bits & 0x1FFFFFFF) == 0x10000000) continue;
    CAPTURE(halves);
    CHECK(rounded_root(s, halves) == static_cast<float>(wide));
  }
}

TEST_CASE("roots: doubles are between the middles with their neighbours") {
  std::mt19937_64 random(96);
  for (int turn = 0; turn < 20000; ++turn) {
    // The cube of a root of 17 bits, a bit more or less, is exact in 53 bits.
    const double root = static_cast<double>(65536 + random() % 65536), cube = root * root * root;
    CHECK(rounded_root(cube, 6) == root);
    CHECK(rounded_root(std::nextafter(cube, 0.0), 6) <= root);
    CHECK(rounded_root(std::nextafter(cube, HUGE_VAL), 6) >= root);
  }
  // Just above the cube of a middle, (2^53 + 1)^3 2^-159 = 1 + 3 2^-53 + ..., and just below.
  CHECK(rounded_root(0x1.0000000000001p0, 6) == 1);
  CHECK(rounded_root(0x1.0000000000002p0, 6) == 0x1.0000000000001p0);
}

/// Checks roots of 2^(b halves) less or more j of its units in the last place. Such a root is 2^(2 b) less or
/// more 2 j / halves of its units, and a little below that: so a middle is rounded down.
template <class Real>
void check_near_powers_of_two(int halves, int b) {
  const Real infinity = std::numeric_limits<Real>::infinity();
  const Real top = std::ldexp(Real{1}, b * halves), root = std::ldexp(Real{1}, 2 * b);
  Real below = top, above = top;
  for (int j = 1; j <= 80; ++j) {
    below = std::nextafter(below, Real{0});
    above = std::nextafter(above, infinity);
    Real less = root, more = root;
    for (int i = (4 * j + halves) / (2 * halves); i > 0; --i) less = std::nextafter(less, Real{0});
    for (int i = (4 * j + halves - 1) / (2 * halves); i > 0; --i) more = std::nextafter(more, infinity);
    CAPTURE(halves);
    CAPTURE(b);
    CAPTURE(j);
    CHECK(rounded_root(below, halves) == less);
    CHECK(rounded_root(above, halves) == more);
  }
}

TEST_CASE("roots: those near powers of two, whose digits end far from those of the powers of a middle") {
  CHECK(rounded_root(16 - 0x1p-48, 8) == 2 - 0x1p-52);
  for (int halves = 1; halves <= 16; ++halves)
    for (int b = -60; b <= 60; ++b) {
      check_near_powers_of_two<double>(halves, b);
      if (std::abs(b) * halves <= 120) check_near_powers_of_two<float>(halves, b);
    }
}

TEST_CASE("roots: those of 0, infinity and of extremes") {
  CHECK(rounded_root(0.0f, 5) == 0);
  CHECK(rounded_root(HUGE_VALF, 5) == HUGE_VALF);
  CHECK(rounded_root(0.3f, 1) == 0.3f * 0.3f);
  CHECK(rounded_root(0x1p-149f, 4) == std::sqrt(0x1p-149f));
  CHECK(rounded_root(0x1p-1074, 16) == rounded_root(0x1p-1074, 16));
  CHECK(rounded_root(0x1p-1072, 16) == 0x1p-134);
  CHECK(rounded_root(0x1p1016, 16) == 0x1p127);
}

}  // namespace
}  // namespace kith::tests
