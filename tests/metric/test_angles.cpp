// Tests sines, cosines and arcs of sines, which must be correctly rounded.
#include "metric/angles.hpp"

#include <cmath>
#include <random>

#include "common/test.hpp"
#include "metric/cholesky.hpp"

namespace kith::tests {
namespace {

struct RoundedAngle {
  double (*function)(double);
  double x, right;
};

// Of 60,000 numbers each those whose results are nearest to the middle of two doubles, then borders. Computed
// with 400 bits.
constexpr RoundedAngle rounded_angles[] = {
    {rounded_sin, 0x1.59f3ff646cb3ep+1, 0x1.b314d688f6e39p-2},
    {rounded_sin, 0x1.c83fe1484f360p-4, 0x1.c74e7f3bee1c2p-4},
    {rounded_sin, 0x1.26fb6d7a5e090p+0, 0x1.d3cf3cd30e70bp-1},
    {rounded_sin, 0x1.7bd3d1f3c40aep+1, 0x1.62f1103ea2ce5p-3},
    {rounded_sin, 0x1.13dd83ac8adb4p-1, 0x1.06b5cf6e6c98dp-1},
    {rounded_sin, 0x1.0b25c4bc4286ap+1, 0x1.bd4363a613d86p-1},
    {rounded_sin, 0x0.0p+0, 0x0.0p+0},
    {rounded_sin, 0x1.0000000000000p+0, 0x1.aed548f090ceep-1},
    {rounded_sin, -0x1.0000000000000p-1, -0x1.eaee8744b05f0p-2},
    {rounded_sin, 0x1.921fb54442d18p+0, 0x1.0000000000000p+0},
    {rounded_sin, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53},
    {rounded_sin, -0x1.921fb54442d18p+1, -0x1.1a62633145c07p-53},
    {rounded_sin, 0x1.0000000000000p-26, 0x1.0000000000000p-26},
    {rounded_sin, 0x1.9c511dc3a41dfp-29, 0x1.9c511dc3a41dfp-29},
    {rounded_sin, 0x1.56e1fc2f8f359p-997, 0x1.56e1fc2f8f359p-997},
    {rounded_sin, 0x1.0000000000000p+16, 0x1.62566735b8513p-1},
    {rounded_sin, 0x1.6300000000000p+9, 0x1.f9bd0303f6fafp-15},
    {rounded_cos, 0x1.6bd2c97de053ep+1, -0x1.e93ff1d720763p-1},
    {rounded_cos, -0x1.a4a9ffa020240p-1, 0x1.5cb1bda9f6770p-1},
    {rounded_cos, 0x1.1827ab80ab9dcp+0, 0x1.d5a05681502dep-2},
    {rounded_cos, 0x1.e8e965687ac18p+0, -0x1.548a2bdb53690p-2},
    {rounded_cos, -0x1.38ccb84d41b80p-5, 0x1.ffa0760f8cc87p-1},
    {rounded_cos, 0x1.4f9b2552d4448p+0, 0x1.0716625054c1bp-2},
    {rounded_cos, 0x0.0p+0, 0x1.0000000000000p+0},
    {rounded_cos, 0x1.0000000000000p+0, 0x1.14a280fb5068cp-1},
    {rounded_cos, -0x1.0000000000000p-1, 0x1.c1528065b7d50p-1},
    {rounded_cos, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
    {rounded_cos, -0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54},
    {rounded_cos, 0x1.921fb54442d18p+1, -0x1.0000000000000p+0},
    {rounded_cos, 0x1.0000000000000p-27, 0x1.0000000000000p+0},
    {rounded_cos, 0x1.9c511dc3a41dfp-29, 0x1.0000000000000p+0},
    {rounded_cos, 0x1.0000000000000p+16, -0x1.719453109288bp-1},
    {rounded_cos, 0x1.6300000000000p+7, -0x1.f9bd0308c896fp-17},
    {rounded_asin, 0x1.f5d1b4e625930p-5, 0x1.f6222fa2930f9p-5},
    {rounded_asin, 0x1.2915e8362352ep-2, 0x1.2d6b6431abf0fp-2},
    {rounded_asin, 0x1.8bb460ebec880p-7, 0x1.8bb6d74162dcbp-7},
    {rounded_asin, 0x1.7ff05e310e659p-1, 0x1.b21d8fd04f768p-1},
    {rounded_asin, 0x1.2fdda5dd6e6b0p-2, 0x1.348310388df5ap-2},
    {rounded_asin, 0x1.fa54247513d77p-1, 0x1.6bfc3ff3cd288p+0},
    {rounded_asin, 0x0.0p+0, 0x0.0p+0},
    {rounded_asin, 0x1.0000000000000p+0, 0x1.921fb54442d18p+0},
    {rounded_asin, 0x1.0000000000000p-1, 0x1.0c152382d7366p-1},
    {rounded_asin, 0x1.0000000000000p-26, 0x1.0000000000000p-26},
    {rounded_asin, 0x1.0000000000000p-25, 0x1.0000000000001p-25},
    {rounded_asin, 0x1.fffffffffffffp-1, 0x1.921fb50442d18p+0},
    {rounded_asin, 0x1.56e1fc2f8f359p-997, 0x1.56e1fc2f8f359p-997},
    {rounded_asin, 0x1.6a09e667f3bcdp-1, 0x1.921fb54442d19p-1},
};

TEST_CASE("angles: numbers whose results are near the middle of two doubles, and borders") {
  for (const RoundedAngle& one : rounded_angles) {
    CAPTURE(one.x);
    CHECK(one.function(one.x) == one.right);
  }
  CHECK(std::signbit(rounded_sin(-0.0)));
}

TEST_CASE("angles: results are as near as long doubles say, odd or even, and never fall") {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> angle(0, 7), ratio(0, 1);
  for (int turn = 0; turn < 3000; ++turn) {
    const double x = angle(random), y = ratio(random);
    CAPTURE(x);
    const auto near = [](double found, long double right) {
      return std::fabs(static_cast<long double>(found) - right) <= std::fabs(right) * 0x1.01p-53L;
    };
    CHECK(near(rounded_sin(x), std::sin(static_cast<long double>(x))));
    CHECK(near(rounded_cos(x), std::cos(static_cast<long double>(x))));
    CHECK(near(rounded_asin(y), std::asin(static_cast<long double>(y))));
    CHECK(rounded_sin(-x) == -rounded_sin(x));
    CHECK(rounded_cos(-x) == rounded_cos(x));
    CHECK(rounded_asin(std::nextafter(y, 1)) >= rounded_asin(y));
  }
}

TEST_CASE("cholesky: a matrix whose factor is exact, its products, and the column where one fails") {
  const std::vector<double> matrix{4, 2, -2, 2, 5, 3, -2, 3, 14};  // C = 2 / 1 2 / -1 2 3
  const Cholesky factor(matrix, 3);
  REQUIRE(factor.failed() == 3);
  std::vector<double> x{2, 5, 12}, spare(3);
  factor.solve(x);
  CHECK(x == std::vector<double>{1, 2, 3});
  factor.multiply(x, spare);
  CHECK(x == std::vector<double>{1, 10, 9});
  CHECK(Cholesky(std::vector<double>{1, 0, 0, 0}, 2).failed() == 1);
  CHECK(Cholesky(std::vector<double>{-1, 0, 0, 1}, 2).failed() == 0);
}

}  // namespace
}  // namespace kith::tests
