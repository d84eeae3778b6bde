// Projects rows onto a few directions, so that distances between projections are lower bounds of distances
// between rows: docs/certificate.md, section 10.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

/// Columns of a projected row: as many directions and one more for what they leave. Coarse rows are what
/// products are computed of, fine rows what is looked at where coarse ones are near.
inline constexpr std::int64_t coarse_columns = 64, fine_columns = 128;

/// Projected rows.
struct Projected {
  std::vector<float> coarse;  ///< [count, coarse_columns]
  std::vector<float> fine;    ///< [count, fine_columns]
  std::vector<double> norms;  ///< [count]  at least the norms of the rows minus the centre
};

class Projection {
 public:
  ///   centre      [dims]  of the rows; any is correct
  ///   directions  [dims, fine_columns]  one a column, nearly orthonormal or 0, the last 0
  Projection(std::vector<float> centre, std::vector<double> directions);

  std::int64_t dims() const { return static_cast<std::int64_t>(centre_.size()); }
  /// Projects rows, [count, dims].
  Projected project(MatrixView<const float> rows, std::uint32_t threads) const;
  /// Returns a number that the chain of projections, or the sum of their squared differences in any order of
  /// floats, exceeds for no row whose chain of squared differences is at most `value`.
  ///   norm     of the query, from Projected
  ///   columns  coarse_columns or fine_columns
  float bound(double norm, float value, std::int64_t columns) const;

 private:
  void project_some(MatrixView<const float> rows, std::int64_t first, Projected& to) const;

  const std::vector<float> centre_;
  const std::vector<double> directions_;
  double stretch_ = 1;  ///< projecting makes no row longer than by this
  double error_ = 0;    ///< of a projected row, relative to the norm of the row
};

/// Returns the directions along which rows of a sample differ most, as Projection takes them.
///   sample  [count, dims]
std::vector<double> directions_of(MatrixView<const float> sample, const std::vector<float>& centre,
                                  std::uint32_t threads);

/// Returns how many directions the rows of a sample fill, if they fill each alike: the square of the sum of
/// their variances, divided by the sum of the squares of these.
double filled_directions(MatrixView<const float> sample, const std::vector<float>& centre,
                         std::uint32_t threads);

}  // namespace kith
