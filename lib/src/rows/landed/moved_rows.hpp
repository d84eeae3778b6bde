// Moves rows and queries to where an Index compares them: subtracts its centre, moves them into its periodic
// box, or prepares them for its metric. Values of floats are moved and rounded only here.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "base/floats.hpp"
#include "kith/centre.hpp"
#include "kith/index.hpp"
#include "kith/rows_view.hpp"
#include "rows/doubles/prepared_doubles.hpp"

namespace kith {

/// Throws unsupported: doubles without a centre.
void check_no_doubles(std::string_view where, std::string_view what, Element element);

/// Adds a row, which is as wide as those before it.
inline void add_row(ColumnSums& sums, std::span<const double> row) {
  if (sums.rows++ == 0) {
    sums.first.assign(row.begin(), row.end());
    sums.sum.assign(row.size(), 0);
  }
  for (std::size_t d = 0; d < row.size(); ++d) sums.sum[d] += row[d] - sums.first[d];
}

/// Returns IndexOptions::centre as an Index stores it, given or learned: [columns], 0 in columns that do not
/// count. It is empty if no centre is asked for.
///   element   of the training rows
///   features  the columns that count
///   sums      returns the sums of all training rows
/// Throws invalid_argument: a metric or an element that allows no centre, a wrong length, a value that is not
/// finite. Throws unsupported: doubles without a centre.
std::vector<double> centre_of(const IndexOptions& options, Metric metric, Element element,
                              std::int64_t columns, std::span<const std::int64_t> features,
                              const std::function<ColumnSums()>& sums);

/// Subtracts `centre` from rows of f32 or f64; each value is rounded once. The calling thread does it, under
/// a FloatGuard.
///   to       [rows, cols]  out
///   returns  whether all values are finite
bool subtract_centre(const RowsView& rows, std::span<const double> centre, float* to);

/// Rows of a caller in the form that the Index searches. They are in the caller's memory, or, if there is a
/// centre, a box or a prepared metric, in memory of this object, on the host. In double precision values are
/// moved into a box later.
class MovedRows {
 public:
  ///   where, what  as for prepare_rows()
  ///   options      how many threads do it, and whether they go on
  ///   first_row    the number of row 0 in messages
  /// Throws unsupported: doubles that are not moved. Throws invalid_argument with a centre or a box: elements
  /// other than f32 and f64; with any of the three: another number of columns than the Index has, and a value
  /// that becomes too large (names its place); and as PreparedMetric::change() does. Throws interrupted.
  MovedRows(std::string_view where, std::string_view what, const Index::State& index, const RowsView& given,
            const SearchOptions& options = {}, std::int64_t first_row = 0);
  MovedRows(const MovedRows&) = delete;
  MovedRows& operator=(const MovedRows&) = delete;

  const RowsView& view() const { return view_; }
  operator const RowsView&() const { return view_; }

 private:
  void move(std::string_view where, std::string_view what, const Index::State& index, const RowsView& rows,
            const SearchOptions& options, std::int64_t first_row);
  void prepare(std::string_view where, std::string_view what, const Index::State& index, const RowsView& rows,
               const SearchOptions& options, std::int64_t first_row);

  RowsView view_;
  Floats own_;
  Doubles own64_;  ///< of a prepared metric in double precision
};

}  // namespace kith
