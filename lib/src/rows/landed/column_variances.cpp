#include "rows/landed/column_variances.hpp"

#include <algorithm>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "kith/metric.hpp"
#include "rows/doubles/prepared_doubles.hpp"

namespace kith {

std::vector<double> variances_of(const RowsView& rows, std::span<const std::int64_t> features,
                                 std::int64_t first_row) {
  if (rows.rows < 2)
    refuse("index", "seuclidean without variances, and 1 row has none; give one a column, or more rows");
  const auto each_row = [&](const auto& take) {
    constexpr std::int64_t at_once = std::int64_t{1} << 20;  // values
    const std::int64_t step = std::max<std::int64_t>(1, at_once / rows.cols);
    for (std::int64_t first = 0; first < rows.rows; first += step) {
      const RowsView some = rows.slice(first, std::min(step, rows.rows - first));
      const PreparedDoubles doubles =
          prepare_doubles("index", "training", some, Metric::l2, features, {}, 0, first_row + first);
      const FloatGuard guard;
      for (std::int64_t r = 0; r < doubles.rows; ++r) take(doubles.row(r));
    }
  };
  std::vector<double> means(features.size()), variances(features.size());
  each_row([&](std::span<const double> row) {
    for (std::size_t d = 0; d < row.size(); ++d) means[d] += row[d];
  });
  const FloatGuard guard;
  for (double& mean : means) mean /= static_cast<double>(rows.rows);
  each_row([&](std::span<const double> row) {
    for (std::size_t d = 0; d < row.size(); ++d) {
      const double apart = row[d] - means[d];
      variances[d] += apart * apart;
    }
  });
  for (double& variance : variances) variance /= static_cast<double>(rows.rows - 1);
  return variances;
}

}  // namespace kith
