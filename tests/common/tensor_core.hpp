// A tensor core as docs/certificate.md, section 3, takes it to be, with as many places as one likes, and what
// that page allows it to lose.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace kith::tests {

/// Adds products and the sum so far at once: each is cut to `extra` binary places more than a float has
/// beside the largest of them, and their sum to a float.
struct TensorCore {
  std::size_t terms;  ///< products at once, at most most_terms
  int extra;          ///< 24 places below the largest: 1
  bool down = false;  ///< cuts go to the number below, else towards 0

  static constexpr std::size_t most_terms = 16;

  template <class A, class B>
  float product(const A& a, const B& b, std::size_t dims) const {
    float sum = 0;
    for (std::size_t d = 0; d < dims; d += terms) {
      double addends[most_terms + 1] = {static_cast<double>(sum)};
      const std::size_t some = std::min(terms, dims - d);
      for (std::size_t i = 0; i < some; ++i)
        addends[i + 1] = static_cast<double>(a(d + i)) * static_cast<double>(b(d + i));
      sum = add(addends, some + 1);
    }
    return sum;
  }

 private:
  float add(const double* addends, std::size_t count) const {
    double largest = 0, sum = 0;
    for (std::size_t i = 0; i < count; ++i) largest = std::max(largest, std::fabs(addends[i]));
    if (largest == 0) return 0;
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

/// b of docs/certificate.md, section 3, for fp16, of kernels for few queries and for many, spelled out once
/// more.
inline double tensor_core_error(std::size_t dims) {
  const auto columns = static_cast<double>(dims);
  if (dims > 4) return 12 * std::ceil(columns / 8) * 0x1p-24 * (1 + 0x1p-10);
  return std::max(12 * std::ceil(columns / 2), 4 * columns + 6) * 0x1p-24 * (1 + 0x1p-8);
}

}  // namespace kith::tests
