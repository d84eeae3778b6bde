// Makes products of rows with missing values: docs/certificate.md, section 9.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

/// Columns of an extended row for each column: of the square, of the value, and of whether it is there.
inline constexpr std::int64_t gap_parts = 3;

/// What the bound of a query depends on.
struct GapQuery {
  std::int64_t known = 0;  ///< columns that have a value
  double norm = 0;         ///< of its values, once they are moved
  double threshold = 0;    ///< what its extended row subtracts for each common column
};

/// Moves values to near 0, each by a function of its column that brings no two of them farther apart.
class GapColumns {
 public:
  ///   sample  rows; NaN: a value is missing
  explicit GapColumns(MatrixView<const float> sample);

  std::int64_t dims() const { return static_cast<std::int64_t>(centre_.size()); }
  std::int64_t width() const { return gap_parts * dims(); }

  /// Extends a training row. One without values, which is no neighbour, is taken for one that is far.
  ///   to  [width()]  out
  void extend_row(const float* row, float* to) const;
  /// Extends a query, whose product with a row, negated, is about the sum of squares minus `threshold` for
  /// each common column.
  GapQuery extend_query(const float* query, double threshold, float* to) const;
  /// Returns the threshold at which rows of this raw value have the product 0.
  double threshold_of(double value) const;
  /// Returns a number that the negated product, by the chain of floats, exceeds for no row whose raw value is
  /// at most `value`.
  float bound(const GapQuery& query, float value) const;

 private:
  float moved(float value, std::int64_t d) const;
  void find_spread(MatrixView<const float> sample);
  void balance_parts(MatrixView<const float> sample);

  std::vector<double> centre_;
  std::vector<float> limit_;            ///< of the magnitude of moved values
  float largest_ = 0;                   ///< of the moved values of the sample
  double scale_ = 1;                    ///< a power of two
  float of_square_ = 1, of_there_ = 1;  ///< powers of two by which parts of a row are multiplied
};

}  // namespace kith
