#include "metric/angles.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace kith {
namespace {

constexpr unsigned limb_bits = 32;

/// A number from 0 to below 2^32 in binary, with a point behind the first limb. Results are cut off behind
/// the last one.
template <std::size_t Limbs>
struct Fixed {
  std::array<std::uint32_t, Limbs> limb{};

  /// Returns a double: 0, or from 2^-30 to below 2^32, so that its bits have room in 5 limbs.
  static Fixed of(double value) {
    Fixed to;
    for (std::uint32_t& one : to.limb) {
      one = static_cast<std::uint32_t>(value);
      value = std::ldexp(value - static_cast<double>(one), limb_bits);
    }
    return to;
  }

  friend bool operator<(const Fixed& a, const Fixed& b) { return a.limb < b.limb; }

  Fixed& operator+=(const Fixed& other) {
    std::uint64_t carry = 0;
    for (std::size_t i = Limbs; i-- > 0; carry >>= limb_bits) {
      carry += std::uint64_t{limb[i]} + other.limb[i];
      limb[i] = static_cast<std::uint32_t>(carry);
    }
    return *this;
  }
  /// Subtracts a number that is not larger.
  Fixed& operator-=(const Fixed& other) {
    std::int64_t borrow = 0;
    for (std::size_t i = Limbs; i-- > 0; borrow >>= limb_bits) {
      borrow += std::int64_t{limb[i]} - std::int64_t{other.limb[i]};
      limb[i] = static_cast<std::uint32_t>(borrow);
    }
    return *this;
  }
  Fixed& operator/=(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (std::uint32_t& one : limb) {
      rest = rest << limb_bits | one;
      one = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    return *this;
  }
  bool is_zero() const { return limb == std::array<std::uint32_t, Limbs>{}; }
};

/// Returns a product, at most Limbs units of the last limb too small; it must be below 2^32.
template <std::size_t Limbs>
Fixed<Limbs> operator*(const Fixed<Limbs>& a, const Fixed<Limbs>& b) {
  Fixed<Limbs> to;
  std::uint64_t low = 0, high = 0;  // of products of one weight, in two halves that do not overflow
  for (std::size_t weight = Limbs + 1; weight-- > 0;) {
    low = high & 0xffffffffu, high >>= limb_bits;
    for (std::size_t i = weight < Limbs ? 0 : 1; i <= std::min(weight, Limbs - 1); ++i) {
      const std::uint64_t product = std::uint64_t{a.limb[i]} * b.limb[weight - i];
      low += product & 0xffffffffu;
      high += product >> limb_bits;
    }
    if (weight < Limbs) to.limb[weight] = static_cast<std::uint32_t>(low);
    high += low >> limb_bits;
  }
  return to;
}

/// Half of pi, cut off behind the last limb.
template <std::size_t Limbs>
Fixed<Limbs> half_pi() {
  constexpr std::array<std::uint32_t, 9> digits = {0x00000001, 0x921fb544, 0x42d18469, 0x898cc517, 0x01b839a2,
                                                   0x52049c11, 0x14cf98e8, 0x04177d4c, 0x76273644};
  Fixed<Limbs> to;
  std::copy_n(digits.begin(), Limbs, to.limb.begin());
  return to;
}

/// Returns the sine or the cosine of r, from 0 to just above half of pi, by its series, until terms are 0.
template <std::size_t Limbs>
Fixed<Limbs> series(const Fixed<Limbs>& r, bool sine) {
  const Fixed<Limbs> square = r * r;
  Fixed<Limbs> sums[2], term = sine ? r : Fixed<Limbs>::of(1);
  for (std::uint32_t n = sine ? 1 : 0, turn = 0; !term.is_zero(); n += 2, turn ^= 1) {
    sums[turn] += term;
    term = square * term;
    term /= (n + 1) * (n + 2);
  }
  sums[0] -= sums[0] < sums[1] ? sums[0] : sums[1];
  return sums[0];
}

/// Bounds the error of series(), and of an angle below most_angle that is reduced: half of pi is off by a
/// unit of the last limb, up to 2^16 of it by 2^16 of these; each of at most 64 terms by a few, and
/// derivatives are at most 1. So 2^24 units are enough.
template <std::size_t Limbs>
Fixed<Limbs> error_of_series() {
  Fixed<Limbs> error;
  error.limb[Limbs - 1] = std::uint32_t{1} << 24;
  return error;
}

/// Returns the nearest double.
template <std::size_t Limbs>
double nearest(const Fixed<Limbs>& of) {
  std::size_t first = 0;
  while (first < Limbs && of.limb[first] == 0) ++first;
  if (first == Limbs) return 0;
  const auto limb = [&](std::size_t i) { return i < Limbs ? std::uint64_t{of.limb[i]} : 0; };
  const auto shift = static_cast<unsigned>(std::countl_zero(of.limb[first]));
  std::uint64_t top = limb(first) << limb_bits | limb(first + 1);
  if (shift > 0) top = top << shift | limb(first + 2) >> (limb_bits - shift);
  // The last 11 of these 64 bits decide; what follows them is told by the last one.
  bool rest = (limb(first + 2) << (shift + limb_bits)) != 0;
  for (std::size_t i = first + 3; i < Limbs; ++i) rest = rest || of.limb[i] != 0;
  top |= rest ? 1 : 0;
  return std::ldexp(static_cast<double>(top), -static_cast<int>((first + 1) * limb_bits + shift));
}

/// Returns the sine or cosine, if all numbers as near as the error allows are rounded to one double.
template <std::size_t Limbs>
std::optional<double> sine_or_cosine(double x, bool sine) {
  const Fixed<Limbs> quarter = half_pi<Limbs>();
  Fixed<Limbs> rest = Fixed<Limbs>::of(std::fabs(x)), turns = quarter;
  // A quarter too many or too few is allowed for below: the angle stays from 0 to just above half of pi.
  const auto quarters = static_cast<std::uint32_t>(std::fabs(x) * 0x1.45f306dc9c883p-1);
  std::uint64_t carry = 0;
  for (std::size_t i = Limbs; i-- > 0; carry >>= limb_bits) {
    carry += std::uint64_t{turns.limb[i]} * quarters;
    turns.limb[i] = static_cast<std::uint32_t>(carry);
  }
  std::uint32_t quadrant = quarters;
  if (rest < turns) turns -= quarter, --quadrant;
  rest -= turns;
  if (!sine) ++quadrant;  // cos(x) = sin(x + a quarter)
  const Fixed<Limbs> error = error_of_series<Limbs>();
  Fixed<Limbs> above = series(rest, quadrant % 2 == 0), below = above;
  above += error;
  below -= below < error ? below : error;
  const double value = nearest(above);
  if (value != nearest(below)) return std::nullopt;
  const bool negative = (quadrant % 4 >= 2) != (sine && x < 0);
  return negative ? -value : value;
}

/// 5 limbs decide nearly always. By 9, whose error is 2^-232, all doubles are decided: the sine of no double
/// but 0 is a double or halfway between two, and none below most_angle is known to be within 2^-120 of one.
double sine_or_cosine(double x, bool sine) {
  if (const auto quick = sine_or_cosine<5>(x, sine)) return *quick;
  return sine_or_cosine<9>(x, sine).value();
}

/// Returns whether the angle halfway between a double and the next has a sine above x.
bool is_below_middle(double angle, double x) {
  const double next = std::nextafter(angle, 2);
  const auto decide = [&](auto sample) -> std::optional<bool> {
    using Number = decltype(sample);
    Number middle = Number::of(angle);
    Number gap = Number::of(next);
    gap -= middle;
    gap /= 2;
    middle += gap;
    const Number sine = series(middle, true);
    Number above = sine, below = sine, error = error_of_series<sizeof(sample.limb) / sizeof(std::uint32_t)>();
    above += error;
    below -= error;
    const Number of = Number::of(x);
    if (above < of) return false;
    if (of < below) return true;
    return std::nullopt;
  };
  if (const auto quick = decide(Fixed<5>())) return *quick;
  return decide(Fixed<9>()).value();
}

/// A number as the sum of two doubles, the second of which is below half of the last place of the first.
struct Pair {
  double high = 0, low = 0;

  static Pair sum(double a, double b) {
    const double high = a + b, of_b = high - a;
    return {high, (a - (high - of_b)) + (b - of_b)};
  }
  static Pair product(double a, double b) { return {a * b, std::fma(a, b, -(a * b))}; }
  friend Pair operator+(const Pair& a, const Pair& b) {
    Pair to = sum(a.high, b.high);
    return sum(to.high, to.low + (a.low + b.low));
  }
  friend Pair operator*(const Pair& a, const Pair& b) {
    Pair to = product(a.high, b.high);
    return sum(to.high, to.low + (a.high * b.low + a.low * b.high));
  }
};

/// Returns x less the sine of an angle that is near asin(x) and below 1.53. The error is below 2^-85 of the
/// angle: that of pairs is below 2^-95; that of the terms from angle^19 / 19! on, which are doubles, below
/// 2^-90; terms from angle^33 / 33! on are left out.
double residual_of_sine(double angle, double x) {
  const Pair square = Pair::product(angle, angle);
  double factorial = 0x1.956ad0aae33a4p+112, rest = 0;  // of 31, the nearest double
  for (int n = 31; n > 18; factorial /= n * (n - 1), n -= 2) rest = 1 / factorial - square.high * rest;
  // Factorials up to 17! are doubles, and so are those above, divided as here, up to a few roundings.
  constexpr double whole[] = {355687428096000, 1307674368000, 6227020800, 39916800, 362880, 5040, 120, 6};
  Pair sum{rest, 0};
  for (const double one : whole) {
    const double inverse = 1 / one;
    const Pair product = square * sum;
    sum = Pair{inverse, std::fma(-inverse, one, 1) / one} + Pair{-product.high, -product.low};
  }
  const Pair cube = square * sum * Pair{angle, 0};  // angle - sin(angle)
  const Pair near = Pair::sum(x, -angle) + cube;
  return near.high;
}

/// Returns asin(x), if pairs decide it.
std::optional<double> quick_asin(double x) {
  const double angle = std::asin(x);
  if (!(x <= 1 - 0x1p-10) || !(std::fabs(angle) < 1.53)) return std::nullopt;
  // The cosine is above 2^-5, so that the error is below 2^-28 of the last place of the angle. That of the
  // linear step, below the square of some of these places, is far less.
  const double apart = residual_of_sine(angle, x) / std::sqrt((1 - x) * (1 + x));
  const double above = std::nextafter(angle, 2), below = std::nextafter(angle, 0);
  const double up = above - angle, down = angle - below, error = up * 0x1p-20;
  if (std::fabs(apart - up / 2) < error || std::fabs(apart + down / 2) < error) return std::nullopt;
  if (apart > up || -apart > down) return std::nullopt;  // no library is so far off
  return apart > up / 2 ? above : -apart > down / 2 ? below : angle;
}

}  // namespace

double rounded_sin(double x) {
  if (std::fabs(x) < 0x1p-26) return x;  // x^3 / 6 is below half of the last place
  return sine_or_cosine(x, true);
}

double rounded_cos(double x) {
  if (std::fabs(x) < 0x1p-27) return 1;
  return sine_or_cosine(x, false);
}

double rounded_asin(double x) {
  if (x < 0x1p-26) return x;
  if (x >= 1) return 0x1.921fb54442d18p0;
  if (const std::optional<double> quick = quick_asin(x)) return *quick;
  double angle = std::asin(x);  // a guess, from which the search for the right double begins
  while (!is_below_middle(angle, x)) angle = std::nextafter(angle, 2);
  while (is_below_middle(std::nextafter(angle, 0), x)) angle = std::nextafter(angle, 0);
  return angle;
}

}  // namespace kith
