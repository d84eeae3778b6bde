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

  /// A row as it is after its categories became columns and the first `scalings` scalings were done.
  ///   row  [dims]    out  [width]
  void run(const float* row, std::size_t scalings, double* out) const;
};

/// What standardize or min_max learns of training rows after the first `scalings` scalings.
///   train  [n, dims], n >= 1
Preparation::Columns learn_columns(const PreparationSteps& steps, Scaling scaling, std::size_t scalings,
                                   MatrixView<const float> train);

}  // namespace kith
