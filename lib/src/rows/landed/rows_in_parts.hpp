// Rows that are looked at part by part, wherever they are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "rows/doubles/prepared_doubles.hpp"

namespace kith {

struct RowsInParts {
  std::int64_t rows = 0, cols = 0;
  std::function<RowsView(std::int64_t first, std::int64_t count)> part;  ///< on the host, until the next call

  explicit RowsInParts(const RowsView& all)
      : rows(all.rows),
        cols(all.cols),
        part([all](std::int64_t first, std::int64_t count) { return all.slice(first, count); }) {}
  RowsInParts(std::int64_t n, std::int64_t columns, std::function<RowsView(std::int64_t, std::int64_t)> read)
      : rows(n), cols(columns), part(std::move(read)) {}

  /// Calls take(row) for each row in turn, with the columns that count as doubles.
  ///   metric     as the caller named it: by some, NaN are missing values
  ///   features   those columns, ascending
  ///   first_row  the number of row 0 in messages
  /// Throws invalid_argument: a value that is neither finite nor missing (names its place).
  template <class Take>
  void each_row(Metric metric, std::span<const std::int64_t> features, std::int64_t first_row,
                const Take& take) const {
    constexpr std::int64_t at_once = std::int64_t{1} << 20;  // values
    const std::int64_t step = std::max<std::int64_t>(1, at_once / cols);
    for (std::int64_t first = 0; first < rows; first += step) {
      const PreparedDoubles some =
          prepare_doubles("index", "training", part(first, std::min(step, rows - first)), as_given(metric),
                          features, {}, 0, first_row + first);
      for (std::int64_t r = 0; r < some.rows; ++r) take(some.row(r));
    }
  }
};

}  // namespace kith
