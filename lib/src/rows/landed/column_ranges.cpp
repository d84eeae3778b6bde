#include "rows/landed/column_ranges.hpp"

#include <algorithm>
#include <cfloat>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "rows/doubles/prepared_doubles.hpp"
#include "rows/landed/borrowed.hpp"

namespace kith {

std::vector<double> ranges_of_columns(const Index::State& index, const RowsView& given,
                                      std::int64_t first_row) {
  const FloatGuard guard;
  std::vector<unsigned char> copy;
  const RowsView rows = rows_on_host("index", "training", index.device.state(), given, copy);
  const std::vector<std::int64_t>& features = index.features;
  struct Ends {
    double least = DBL_MAX, most = -DBL_MAX;
  };
  std::vector<Ends> ends(features.size());
  constexpr std::int64_t at_once = std::int64_t{1} << 20;  // values
  const std::int64_t step = std::max<std::int64_t>(1, at_once / rows.cols);
  for (std::int64_t first = 0; first < rows.rows; first += step) {
    const PreparedDoubles some =
        prepare_doubles("index", "training", rows.slice(first, std::min(step, rows.rows - first)), Metric::l2,
                        index.mask(), {}, 0, first_row + first);
    for (std::size_t i = 0; i < some.values.size(); ++i) {
      Ends& of = ends[i % features.size()];
      of = {std::min(of.least, some.values[i]), std::max(of.most, some.values[i])};
    }
  }
  std::vector<double> ranges(size(index.columns));
  for (std::size_t d = 0; d < features.size(); ++d)
    ranges[size(features[d])] = std::min(ends[d].most - ends[d].least, DBL_MAX);
  return ranges;
}

}  // namespace kith
