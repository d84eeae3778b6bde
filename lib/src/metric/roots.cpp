#include "metric/roots.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace kith {
namespace {

/// A whole number, its smallest 32 bits first, times a power of two. The last word is not 0.
struct Whole {
  std::vector<std::uint32_t> words;
  int exponent = 0;

  /// Takes a finite value above 0.
  explicit Whole(double value) {
    const int scale = std::ilogb(value) - 52;
    put(static_cast<std::uint64_t>(std::scalbn(value, -scale)), scale);
  }
  Whole(std::uint64_t value, int scale) { put(value, scale); }

  int bits() const { return static_cast<int>(32 * words.size()) - std::countl_zero(words.back()) + exponent; }

 private:
  void put(std::uint64_t value, int scale) {
    exponent = scale;
    for (; value != 0; value >>= 32) words.push_back(static_cast<std::uint32_t>(value));
  }
};

Whole product(const Whole& a, const Whole& b) {
  Whole both(0, a.exponent + b.exponent);
  both.words.assign(a.words.size() + b.words.size(), 0);
  for (std::size_t i = 0; i < a.words.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.words.size() || carry != 0; ++j) {
      const std::uint64_t more = j < b.words.size() ? std::uint64_t{a.words[i]} * b.words[j] : 0;
      const std::uint64_t sum = both.words[i + j] + more + carry;
      both.words[i + j] = static_cast<std::uint32_t>(sum);
      carry = sum >> 32;
    }
  }
  while (both.words.back() == 0) both.words.pop_back();
  return both;
}

/// Returns bits `first` ... `first` + 31 of a number, which has places from `exponent` on.
std::uint32_t bits_from(const Whole& of, int first) {
  const int at = first - of.exponent;
  if (at <= -32) return 0;  // all of these bits are below the number's last place
  std::uint64_t found = 0;
  for (int word = at < 0 ? -1 : at / 32, i = 0; i < 2; ++i, ++word)
    if (word >= 0 && static_cast<std::size_t>(word) < of.words.size())
      found |= std::uint64_t{of.words[static_cast<std::size_t>(word)]} << (32 * i);
  return static_cast<std::uint32_t>(found >> (at < 0 ? at + 32 : at % 32));
}

bool is_less(const Whole& a, const Whole& b) {
  if (a.bits() != b.bits()) return a.bits() < b.bits();
  const int end = a.exponent < b.exponent ? a.exponent : b.exponent;
  for (int first = a.bits() - 32; first > end - 32; first -= 32) {
    const std::uint32_t of_a = bits_from(a, first), of_b = bits_from(b, first);
    if (of_a != of_b) return of_a < of_b;
  }
  return false;
}

/// Says whether the root is above the middle between `y` and the next number. It is the middle itself only
/// where `halves` is 1: of a middle the power has more digits than s * s, which has at most twice those of s.
///   power, squares  the power of the middle that is compared with s, or with s * s
template <class Real>
bool is_beyond_middle(Real y, Real s, int power, bool squares) {
  const auto low = static_cast<double>(y), wide = static_cast<double>(s);
  if constexpr (sizeof(Real) == sizeof(float)) {  // doubles decide unless both are nearly equal
    const auto next = static_cast<double>(std::nextafter(y, std::numeric_limits<Real>::infinity()));
    const double middle = (low + next) / 2, target = squares ? wide * wide : wide;
    double raised = middle;
    for (int i = 1; i < power; ++i) raised *= middle;
    if (std::fabs(raised - target) > 0x1p-48 * target) return raised < target;
  }
  constexpr int digits = std::numeric_limits<Real>::digits;
  const int scale = std::ilogb(low) - digits;  // y is a whole number of 2^(scale + 1)
  const Whole middle(static_cast<std::uint64_t>(std::scalbn(low, -scale)) + 1, scale);
  Whole raised = middle;
  for (int i = 1; i < power; ++i) raised = product(raised, middle);
  const Whole once(wide);
  return is_less(raised, squares ? product(once, once) : once);
}

template <class Real>
Real root_of(Real s, int halves) {
  if (!(s > 0) || std::isinf(s) || halves == 2) return s;
  if (halves == 1) return s * s;
  const bool squares = halves % 2 != 0;
  const int power = squares ? halves : halves / 2;
  auto root = static_cast<Real>(std::pow(static_cast<double>(s), 2.0 / halves));
  while (is_beyond_middle(root, s, power, squares))
    root = std::nextafter(root, std::numeric_limits<Real>::infinity());
  while (!is_beyond_middle(std::nextafter(root, Real{0}), s, power, squares))
    root = std::nextafter(root, Real{0});
  return root;
}

}  // namespace

float rounded_root(float s, int halves) {
  return root_of(s, halves);
}
double rounded_root(double s, int halves) {
  return root_of(s, halves);
}

}  // namespace kith
