#include "rows/landed/column_ranges.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"

namespace kith {

std::vector<double> ranges_of_columns(const RowsInParts& rows, Metric metric,
                                      std::span<const std::int64_t> features, std::int64_t first_row) {
  const FloatGuard guard;
  struct Ends {
    double least = DBL_MAX, most = -DBL_MAX;
  };
  std::vector<Ends> ends(features.size());
  rows.each_row(metric, features, first_row, [&](std::span<const double> row) {
    for (std::size_t d = 0; d < row.size(); ++d)
      if (!std::isnan(row[d])) ends[d] = {std::min(ends[d].least, row[d]), std::max(ends[d].most, row[d])};
  });
  std::vector<double> ranges(size(rows.cols));
  for (std::size_t d = 0; d < features.size(); ++d)
    ranges[size(features[d])] = std::clamp(ends[d].most - ends[d].least, 0.0, DBL_MAX);
  return ranges;
}

}  // namespace kith
