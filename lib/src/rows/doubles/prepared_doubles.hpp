// Checks and prepares rows of the caller in double precision.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/floats.hpp"
#include "base/numbers.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"

namespace kith {

using Doubles = std::vector<double, LeftAsItIs<double>>;

/// Rows that a search in double precision may use: only the columns that count, finite, and for cosine
/// divided by their norms. Rows of a metric that takes gaps, which are prepared from doubles, have NaN there.
struct PreparedDoubles {
  Doubles values;  ///< [rows, dims]
  std::int64_t rows = 0, dims = 0;
  double largest = 0;  ///< max |element|
  /// [rows, dims] of the caller, if the rows are left where they are; then `values` is empty.
  const double* left = nullptr;

  MatrixView<const double> view() const { return {left ? left : values.data(), rows, dims}; }
  std::span<const double> row(std::int64_t r) const { return {view().row(r), size(dims)}; }
};

/// Returns a metric that checks rows as they are given, and leaves them as they are, for a metric that
/// changes them later: it takes gaps if that does.
constexpr Metric as_given(Metric metric) {
  return takes_gaps(metric) ? metric : Metric::l2;
}

/// Converts one row to doubles, exactly; what no double equals becomes NaN.
///   floats  [cols]  memory for elements that first become floats
void widen_row(const RowsView& given, std::int64_t r, std::span<float> floats, std::span<double> to);

/// Checks rows and prepares them for `metric`. Every element becomes the double that it equals.
///   where, what  the caller and the rows in messages, as for prepare_rows()
///   given        on the host
///   features     the columns that count, ascending; empty: all
///   order        row i of the result is row order[i] of `given`; empty: row i
///   first_row    the number of row 0 in messages
/// Throws as check_rows() and check_element() do, and invalid_argument: an infinity, or a NaN if the metric
/// takes no gaps (names the first one's row and column), or for cosine a row of zeros.
PreparedDoubles prepare_doubles(std::string_view where, std::string_view what, const RowsView& given,
                                Metric metric, std::span<const std::int64_t> features,
                                std::span<const std::int64_t> order, std::uint32_t threads,
                                std::int64_t first_row = 0);

/// Does the same for rows in their order, but leaves rows of doubles where they are if they are compared as
/// they are and lie without gaps: then `given` must outlive the result.
PreparedDoubles prepare_or_leave(std::string_view where, std::string_view what, const RowsView& given,
                                 Metric metric, std::span<const std::int64_t> features,
                                 std::uint32_t threads);

/// Divides a row by its norm in double precision: docs/contract.md, section 1. Returns false for a row of
/// zeros.
bool make_unit_row(std::span<double> row);

/// For negative_dot: refuses the first query whose chain could reach inf - inf, because dims * max|q| *
/// max|x| is not below the largest double. docs/contract.md, section 3.
void check_range(std::string_view where, Metric metric, const PreparedDoubles& queries, double largest_train);

}  // namespace kith
