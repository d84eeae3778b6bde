// What is known of a row beside its shadow, and whether a device knows it: docs/certificate.md, section 2.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "common/oracle.hpp"

namespace kith::tests {

using Real = long double;

/// The four facts of one row, without error to speak of.
struct Facts {
  Real half_norm = 0, norm = 0, shadow_norm = 0, residual = 0;

  /// Of the shadow of single precision.
  Facts(std::span<const float> row, const std::vector<float>& centre)
      : Facts(row, centre, [&](std::size_t d) { return Real{row[d] - centre[d]}; }) {}

  /// Of the shadow whose columns are shadow_of(d).
  template <class ShadowOf>
  Facts(std::span<const float> row, const std::vector<float>& centre, const ShadowOf& shadow_of) {
    Real moved = 0, shadow = 0, rest = 0;
    for (std::size_t d = 0; d < row.size(); ++d) {
      const Real rounded = row[d] - centre[d], error = error_of_difference(row[d], centre[d]);
      const Real x = rounded + error, y = shadow_of(d), away = (rounded - y) + error;
      moved += x * x;
      shadow += y * y;
      rest += away * away;
    }
    half_norm = moved / 2;
    norm = std::sqrt(moved);
    shadow_norm = std::sqrt(shadow);
    residual = std::sqrt(rest);
  }
};

/// The facts of row r as a device gave them: [facts_a_row, rows].
struct Given {
  float half_norm, norm, shadow_norm, residual;

  Given(const std::vector<float>& facts, std::size_t r) {
    const std::size_t rows = facts.size() / spi::facts_a_row;
    half_norm = facts[spi::half_norm * rows + r];
    norm = facts[spi::norm * rows + r];
    shadow_norm = facts[spi::shadow_norm * rows + r];
    residual = facts[spi::residual * rows + r];
  }
};

/// Bounds that hold, and are near: an infinite one would hold, and be of no use.
///   more  that a residual may be too large by, for what a device's own arithmetic loses
inline void check_facts(const Given& given, const Facts& right, std::int64_t dims, Real more = 0) {
  constexpr Real own = 1 - 0x1p-45L;  // of the arithmetic here
  const Real columns = static_cast<Real>(dims), least = std::sqrt(columns) * 0x1p-60L;
  CHECK(given.half_norm >= 0);
  CHECK(given.half_norm * own <= right.half_norm);
  CHECK(given.half_norm >= 0.999L * right.half_norm - columns * 0x1p-130L);
  CHECK(given.norm >= right.norm * own);
  CHECK(given.norm <= 1.001L * right.norm + least);
  CHECK(given.shadow_norm >= right.shadow_norm * own);
  CHECK(given.shadow_norm <= 1.001L * right.shadow_norm + least);
  CHECK(given.residual >= right.residual * own);
  CHECK(given.residual <= 1.001L * right.residual + least + more);
}

}  // namespace kith::tests
