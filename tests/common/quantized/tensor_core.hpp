// Simulates a tensor core with the loss that docs/certificate.md, section 3, assumes and a precision that can
// be chosen, and computes the bound of that page.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace kith::tests {

/// Returns the size as which a tensor core aligns a 16-bit float.
inline double aligned_size(double half) {
  return std::max(std::fabs(half), 0x1p-14);
}

/// Adds several products and the running sum at once. Each addend is cut at `extra` binary places beyond a
/// float's last place for the largest addend, and the sum is cut to a float. A factor below 2^-14, 0 among
/// them, counts as 2^-14 where the largest is sought, since its exponent says so.
struct TensorCore {
  std::size_t terms;  ///< products added at once, at most most_terms
  int extra;          ///< 1: addends are cut 24 places below the largest
  bool down = false;  ///< round down instead of towards 0

  static constexpr std::size_t most_terms = 16;

  template <class A, class B>
  float product(const A& a, const B& b, std::size_t dims) const {
    float sum = 0;
    for (std::size_t d = 0; d < dims; d += terms) {
      double addends[most_terms + 1] = {static_cast<double>(sum)};
      double largest = std::fabs(addends[0]);
      const std::size_t some = std::min(terms, dims - d);
      for (std::size_t i = 0; i < some; ++i) {
        const auto x = static_cast<double>(a(d + i)), y = static_cast<double>(b(d + i));
        addends[i + 1] = x * y;
        largest = std::max(largest, aligned_size(x) * aligned_size(y));
      }
      sum = add(addends, some + 1, largest);
    }
    return sum;
  }

 private:
  float add(const double* addends, std::size_t count, double largest) const {
    double sum = 0;
    const int place = 23 + extra - std::ilogb(largest);
    const double units = std::ldexp(1.0, place), unit = std::ldexp(1.0, -place);
    const auto cut = [this](double value) { return down ? std::floor(value) : std::trunc(value); };
    for (std::size_t i = 0; i < count; ++i) sum += cut(addends[i] * units) * unit;
    const auto near = static_cast<float>(sum);
    const auto rounded = static_cast<double>(near);
    if (down) return rounded > sum ? std::nextafter(near, -INFINITY) : near;
    return std::fabs(rounded) > std::fabs(sum) ? std::nextafter(near, 0.0f) : near;
  }
};

/// Returns the error bound b for fp16 from docs/certificate.md, section 3, for both kernels (few and many
/// queries), implemented again.
inline double tensor_core_error(std::size_t dims) {
  const auto columns = static_cast<double>(dims);
  if (dims > 4) return 12 * std::ceil(columns / 8) * 0x1p-24 * (1 + 0x1p-10);
  return std::max(12 * std::ceil(columns / 2), 4 * columns + 6) * 0x1p-24 * (1 + 0x1p-8);
}

}  // namespace kith::tests
