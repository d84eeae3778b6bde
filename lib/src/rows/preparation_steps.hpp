// What a Preparation does to one row, in double precision.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/preparation.hpp"

namespace kith {

/// The parts of a Preparation, borrowed: they must outlive this.
struct PreparationSteps {
  std::int64_t dims, width;
  const PreparationOptions& options;
  const std::vector<std::vector<std::int64_t>>& categories;
  const std::vector<Preparation::Columns>& columns;
  const std::vector<double>& fills;  ///< [dims] in place of NaN, or empty

  /// A row as it is after it was filled, its categories became columns and the first `scalings` scalings
  /// were done.
  ///   row  [dims]    out  [width]
  template <class T>
  void run(const T* row, std::size_t scalings, double* out) const;

  /// Of each column that it makes, whether it is of categories.
  std::vector<bool> of_categories() const;
};

// Of float and double alike; a float is the double that it equals.

/// What stands for NaN in each column, [dims]; `options.missing` fills.
/// Throws invalid_argument: a column has no value.
template <class T>
std::vector<double> learn_fills(const PreparationOptions& options, MatrixView<const T> train);

/// What a scaling learns of training rows after the first `scalings` scalings.
///   train  [n, dims], n >= 1
template <class T>
Preparation::Columns learn_columns(const PreparationSteps& steps, Scaling scaling, std::size_t scalings,
                                   MatrixView<const T> train);

}  // namespace kith
