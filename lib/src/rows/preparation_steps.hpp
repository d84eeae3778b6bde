// Applies a Preparation to one row, in double precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/preparation.hpp"

namespace kith {

/// The parts of a Preparation, which must live longer than this object.
struct PreparationSteps {
  std::int64_t dims, width;
  const PreparationOptions& options;
  const std::vector<std::vector<std::int64_t>>& categories;
  const std::vector<Preparation::Columns>& columns;
  const std::vector<double>& fills;  ///< [dims] values that replace NaN, or empty

  /// Computes a row after NaN are replaced, categories are expanded into columns, and the first `scalings`
  /// scalings are applied.
  ///   row  [dims]    out  [width]
  template <class T>
  void run(const T* row, std::size_t scalings, double* out) const;

  /// Returns for each resulting column whether it belongs to a category.
  std::vector<bool> of_categories() const;
};

// The following take float and double alike; a float counts as the double that it equals.

/// Returns what replaces NaN in each column, [dims], as `options.missing` says. Throws invalid_argument: a
/// column has no value.
template <class T>
std::vector<double> learn_fills(const PreparationOptions& options, MatrixView<const T> train);

/// Returns what a scaling learns from training rows, to which the first `scalings` scalings are applied.
///   train  [n, dims], n >= 1
template <class T>
Preparation::Columns learn_columns(const PreparationSteps& steps, Scaling scaling, std::size_t scalings,
                                   MatrixView<const T> train);

}  // namespace kith
