// The data that tests search: rows written by hand, and the hard data of tools/workloads.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <span>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "workloads/rows.hpp"

namespace kith::tests {

using workloads::DataKind;
using workloads::Set;

inline constexpr float inf = std::numeric_limits<float>::infinity();
inline constexpr float flt_max = std::numeric_limits<float>::max();
inline constexpr float flt_min = std::numeric_limits<float>::min();  // the smallest normal number
inline constexpr float denormal = std::numeric_limits<float>::denorm_min();

inline std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

/// Owns rows and their memory.
struct Matrix {
  std::int64_t rows = 0, cols = 0;
  std::vector<float> values;  ///< [rows, cols]

  MatrixView<const float> view() const { return {values.data(), rows, cols}; }
  std::span<const float> row(std::int64_t r) const { return {values.data() + r * cols, size(cols)}; }
  operator MatrixView<const float>() const { return view(); }
};

/// Makes rows of `cols` columns from their values, one row after another.
inline Matrix matrix(std::int64_t cols, std::initializer_list<float> values) {
  return {static_cast<std::int64_t>(values.size()) / cols, cols, values};
}

/// Copies the columns named in `features`, in this order.
inline Matrix columns_of(const Matrix& from, const std::vector<std::int64_t>& features) {
  Matrix chosen{from.rows, static_cast<std::int64_t>(features.size()), {}};
  for (std::int64_t r = 0; r < from.rows; ++r)
    for (const std::int64_t d : features) chosen.values.push_back(from.row(r)[size(d)]);
  return chosen;
}

/// Returns data that tend to reveal mistakes. Queries and training rows share their clusters.
inline Matrix hard_rows(DataKind kind, Set set, std::int64_t rows, std::int64_t dims, Metric metric,
                        std::uint64_t seed = 7) {
  const workloads::Rows made = workloads::make_rows(kind, seed, set, rows, dims, metric);
  const float* first = made.view().data();
  return {rows, dims, std::vector<float>(first, first + rows * dims)};
}

/// Returns points of a map as UTM coordinates in metres, [rows, 3]. In single precision such coordinates have
/// steps of 3 cm and 50 cm.
inline std::vector<double> map_points(std::int64_t rows, std::uint64_t seed) {
  std::uint64_t state = seed;
  const auto next = [&state] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(state >> 11u) * 0x1p-53;
  };
  std::vector<double> points;
  for (std::int64_t r = 0; r < rows; ++r)
    for (const double middle : {450000.0, 5411000.0, 300.0}) points.push_back(middle + 200 * (next() - 0.5));
  return points;
}

/// Finds the row nearest to each query, both [, 3], computed only in double.
inline std::vector<std::int64_t> nearest_in_double(const std::vector<double>& queries,
                                                   const std::vector<double>& train) {
  std::vector<std::int64_t> nearest;
  for (std::size_t q = 0; q < queries.size(); q += 3) {
    double best = std::numeric_limits<double>::infinity();
    std::int64_t at = -1;
    for (std::size_t t = 0; t < train.size(); t += 3) {
      double sum = 0;
      for (std::size_t d = 0; d < 3; ++d)
        sum += (queries[q + d] - train[t + d]) * (queries[q + d] - train[t + d]);
      if (sum < best) best = sum, at = static_cast<std::int64_t>(t / 3);
    }
    nearest.push_back(at);
  }
  return nearest;
}

/// Copies the rows, each followed by `gap` NaN, which reveal a read beyond the row.
class Spread {
 public:
  Spread(const Matrix& matrix, std::int64_t gap)
      : rows_(matrix.rows), cols_(matrix.cols), stride_(matrix.cols + gap) {
    values_.assign(size(rows_ * stride_), std::numeric_limits<float>::quiet_NaN());
    for (std::int64_t r = 0; r < rows_; ++r)
      for (std::int64_t c = 0; c < cols_; ++c) values_[size(r * stride_ + c)] = matrix.view()(r, c);
  }
  MatrixView<const float> view() const { return {values_.data(), rows_, cols_, stride_}; }

 private:
  std::int64_t rows_, cols_, stride_;
  std::vector<float> values_;
};

/// Returns bit patterns of floats. They tell -0 from +0, and compare equal for equal NaN.
inline std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> patterns;
  for (const float value : values) patterns.push_back(std::bit_cast<std::uint32_t>(value));
  return patterns;
}

}  // namespace kith::tests
