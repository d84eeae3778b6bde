// Samples the training rows. A proposer learns from the sample the mean and spread of all rows, and whether
// they are on a grid.
#pragma once

#include <cstdint>
#include <vector>

#include "certified/few_values.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Returns the stride by which about 4096 of `rows` rows are sampled.
std::int64_t sample_stride(std::int64_t rows);

/// What an Index keeps of a sample of its rows.
struct SampledValues {
  /// [dims]  What is subtracted from rows: about the mean of the training rows, rounded if these are whole
  /// numbers, so that differences stay exact; zero for metrics that do not move rows.
  std::vector<float> centre;
  double clip_range = 0;      ///< clip_range_of() the sample (quantized_rows.hpp)
  HalfBytes half_bytes = {};  ///< half_bytes_of() some rows of the sample
  ByteGrid grid = {};         ///< grid_of_values() of the sample (byte_grid.hpp)
  double spread = 0;          ///< ResidentRows::spread

  void tell(ResidentRows& index) const;
};

/// Takes the rows one by one, so that they need not all be in memory.
class RowSample {
 public:
  explicit RowSample(std::int64_t dims);

  /// Adds those of `rows` that belong to the sample.
  ///   first   the number of row 0
  ///   stride  sample_stride() of all rows
  void add(MatrixView<const float> rows, std::int64_t first, std::int64_t stride);

  ///   element  of all rows
  SampledValues values(Metric metric, Element element) const;

 private:
  friend SampledValues sampled_values(MatrixView<const float> rows, Metric metric, Element element,
                                      std::uint32_t threads);

  void add_sums(const float* row);
  void add_sums(MatrixView<const float> rows, std::int64_t stride, std::uint32_t threads);
  void add_values(const float* row);
  void keep(const float* row) { kept_.insert(kept_.end(), row, row + sum_.size()); }
  bool take_few_whole_numbers();
  std::vector<float> centre(Metric metric) const;
  double clip_range(const std::vector<float>& centre) const;

  std::int64_t samples_ = 0;
  bool whole_ = true;
  std::vector<double> sum_;
  std::vector<float> least_, most_;  ///< of each column
  FewValues values_;
  std::vector<float> kept_;  ///< every rows_a_kept_one-th row of the sample, row-major
};

/// Samples about 4096 of these rows, which are all in memory. Faster than RowSample, with the same result.
SampledValues sampled_values(MatrixView<const float> rows, Metric metric, Element element,
                             std::uint32_t threads = 0);

}  // namespace kith
