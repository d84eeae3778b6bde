// The numbers kept beside each quantized row (norms and residual), and checks of those that a device
// computed: docs/certificate.md, section 2.
#pragma once

#include "common/oracle.hpp"
#include "common/test.hpp"

namespace kith::tests {

using Real = long double;

/// Holds the four terms of one row, computed in long double.
struct RowTerms {
  Real half_norm = 0, norm = 0, quantized_norm = 0, residual = 0;

  /// Computes terms for quantized rows in single precision.
  RowTerms(std::span<const float> row, const std::vector<float>& centre)
      : RowTerms(row, centre, [&](std::size_t d) { return Real{row[d] - centre[d]}; }) {}

  /// Terms for quantized rows whose columns are quantized_of(d).
  template <class QuantizedOf>
  RowTerms(std::span<const float> row, const std::vector<float>& centre, const QuantizedOf& quantized_of) {
    Real moved = 0, quantized = 0, rest = 0;
    for (std::size_t d = 0; d < row.size(); ++d) {
      const Real rounded = row[d] - centre[d], error = error_of_difference(row[d], centre[d]);
      const Real x = rounded + error, y = quantized_of(d), away = (rounded - y) + error;
      moved += x * x;
      quantized += y * y;
      rest += away * away;
    }
    half_norm = moved / 2;
    norm = std::sqrt(moved);
    quantized_norm = std::sqrt(quantized);
    residual = std::sqrt(rest);
  }
};

/// Holds the terms of rows as a device computed them: [terms_a_row, rows].
struct Given {
  float half_norm, norm, quantized_norm, residual;

  Given(const std::vector<float>& row_terms, std::size_t r) {
    const std::size_t rows = row_terms.size() / spi::terms_a_row;
    half_norm = row_terms[spi::half_norm * rows + r];
    norm = row_terms[spi::norm * rows + r];
    quantized_norm = row_terms[spi::quantized_norm * rows + r];
    residual = row_terms[spi::residual * rows + r];
  }
};

/// Checks that the bounds hold, and that they are near the exact values: an infinite bound would hold, too,
/// but be useless.
///   more  how much a residual may exceed its exact value because of the device's own arithmetic
inline void check_row_terms(const Given& given, const RowTerms& right, std::int64_t dims, Real more = 0) {
  constexpr Real own = 1 - 0x1p-45L;  // for rounding in this check itself
  const Real columns = static_cast<Real>(dims), least = std::sqrt(columns) * 0x1p-60L;
  CHECK(given.half_norm >= 0);
  CHECK(given.half_norm * own <= right.half_norm);
  CHECK(given.half_norm >= 0.999L * right.half_norm - columns * 0x1p-130L);
  CHECK(given.norm >= right.norm * own);
  CHECK(given.norm <= 1.001L * right.norm + least);
  CHECK(given.quantized_norm >= right.quantized_norm * own);
  CHECK(given.quantized_norm <= 1.001L * right.quantized_norm + least);
  CHECK(given.residual >= right.residual * own);
  CHECK(given.residual <= 1.001L * right.residual + least + more);
}

}  // namespace kith::tests
