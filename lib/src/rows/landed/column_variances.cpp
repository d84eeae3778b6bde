#include "rows/landed/column_variances.hpp"

#include "base/float_guard.hpp"
#include "base/refuse.hpp"

namespace kith {

std::vector<double> variances_of(const RowsInParts& rows, std::span<const std::int64_t> features,
                                 std::int64_t first_row) {
  if (rows.rows < 2)
    refuse("index", "seuclidean without variances, and 1 row has none; give one a column, or more rows");
  const FloatGuard guard;
  std::vector<double> means(features.size()), variances(features.size());
  rows.each_row(Metric::seuclidean, features, first_row, [&](std::span<const double> row) {
    for (std::size_t d = 0; d < row.size(); ++d) means[d] += row[d];
  });
  for (double& mean : means) mean /= static_cast<double>(rows.rows);
  rows.each_row(Metric::seuclidean, features, first_row, [&](std::span<const double> row) {
    for (std::size_t d = 0; d < row.size(); ++d) {
      const double apart = row[d] - means[d];
      variances[d] += apart * apart;
    }
  });
  for (double& variance : variances) variance /= static_cast<double>(rows.rows - 1);
  return variances;
}

}  // namespace kith
