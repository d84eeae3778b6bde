// The periodic box of an Index (docs/contract.md, section 3): its lengths, and values that are moved into it.
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "kith/index.hpp"

namespace kith {

/// Moves a value into 0 ... length by whole lengths, and rounds it to Real. What becomes `length` by a
/// rounding is 0. A value that is not finite stays. Must run under FloatGuard.
///   length  0: the column is open, and the value is only rounded
template <class Real>
Real moved_into(double length, double value) {
  if (length == 0 || !std::isfinite(value)) return static_cast<Real>(value);
  const double rest = value >= 0 && value < length ? value : std::fmod(value, length);  // exact
  const Real moved = static_cast<Real>(rest < 0 ? rest + length : rest);
  return moved == 0 || moved >= static_cast<Real>(length) ? Real{0} : moved;
}

class PeriodicBox {
 public:
  ///   lengths   [columns], 0 for open columns and for those that do not count
  ///   features  the columns that count, ascending
  PeriodicBox(std::vector<double> lengths, std::span<const std::int64_t> features);

  const std::vector<double>& lengths() const { return lengths_; }
  /// Returns the lengths of the columns that count, +infinity for open ones: parameters of ColumnTerms.
  std::vector<double> terms() const;
  /// Returns whether a value of this column, among those that count, would stay.
  template <class Real>
  bool holds(std::int64_t column, Real value) const {
    const double length = lengths_[static_cast<std::size_t>(features_[static_cast<std::size_t>(column)])];
    return moved_into<Real>(length, static_cast<double>(value)) == value;
  }
  /// Moves rows of doubles, of the columns that count, into the box.
  ///   rows  [n, dims], finite
  void move(std::span<double> rows, std::uint32_t threads) const;

 private:
  const std::vector<double> lengths_;
  const std::vector<std::int64_t> features_;
};

/// Returns IndexOptions::box as an Index keeps it; null if no box is asked for.
///   columns   of the rows as they are given
///   features  those that count
/// Throws invalid_argument: a metric that takes no box, a centre beside it, another number of lengths, one
/// that is negative or not finite, or that is not above 0 and finite as a float.
std::shared_ptr<const PeriodicBox> box_of(const IndexOptions& options, Metric metric, std::int64_t columns,
                                          std::span<const std::int64_t> features);

}  // namespace kith
