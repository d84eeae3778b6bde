// What a sample of the training rows tells of all of them: where they lie, and how far they reach from there.
#pragma once

#include <cstdint>
#include <vector>

#include "certified/few_values.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"

namespace kith {

/// About 4096 of `rows` rows are a sample: every so many.
std::int64_t sample_stride(std::int64_t rows);

/// Whether rows are moved before they are quantized: for distances, not for inner products.
bool has_centre(Metric metric);

/// Taken row by row, so that the rows need not all be there at once.
class RowSample {
 public:
  explicit RowSample(std::int64_t dims);

  /// Those of `rows` that are of the sample.
  ///   first   the number of row 0
  ///   stride  as sample_stride() has it of all rows
  void add(MatrixView<const float> rows, std::int64_t first, std::int64_t stride);

  /// The centre that rows are moved by: about the mean of the training rows, whole where the rows are, so
  /// that whole numbers stay exact; zero where rows are not moved.
  ///   returns [dims]
  std::vector<float> centre(Metric metric) const;

  /// clip_range_of() the sample (quantized_rows.hpp).
  double clip_range(const std::vector<float>& centre) const;

  /// For grid_of_values() (byte_grid.hpp).
  const FewValues& values() const { return values_; }

 private:
  std::int64_t samples_ = 0;
  bool whole_ = true;
  std::vector<double> sum_;
  std::vector<float> least_, most_;  ///< of each column
  FewValues values_;
};

}  // namespace kith
