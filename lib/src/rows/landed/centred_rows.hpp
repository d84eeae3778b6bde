// Rows and queries less the centre of an Index. The only place where a value is moved and rounded.
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

namespace kith {

/// Refuse doubles where there is no centre.
/// Throws unsupported.
void check_no_doubles(std::string_view where, std::string_view what, Element element);

/// A row, as wide as those before it.
inline void add_row(ColumnSums& sums, std::span<const double> row) {
  if (sums.rows++ == 0) {
    sums.first.assign(row.begin(), row.end());
    sums.sum.assign(row.size(), 0);
  }
  for (std::size_t d = 0; d < row.size(); ++d) sums.sum[d] += row[d] - sums.first[d];
}

/// IndexOptions::centre as an Index keeps it, given or learned: [columns], 0 in columns that do not count.
/// Empty: none is asked for.
///   element   of the training rows
///   features  the columns that count
///   sums      returns those of all training rows
/// Throws invalid_argument: a metric or an element that takes none, a wrong length, a value that is not
/// finite. unsupported: doubles without a centre.
std::vector<double> centre_of(const IndexOptions& options, Metric metric, Element element,
                              std::int64_t columns, std::span<const std::int64_t> features,
                              const std::function<ColumnSums()>& sums);

/// Rows of f32 or f64 less `centre`, each value rounded once; by the calling thread, under a FloatGuard.
///   to       [rows, cols]  out
///   returns  whether all of them are finite
bool subtract_centre(const RowsView& rows, std::span<const double> centre, float* to);

/// What a caller gives as the Index searches it. Refers to the caller's memory; where there is a centre, has
/// memory of its own, on the host.
class CentredRows {
 public:
  ///   where, what  as for prepare_rows()
  ///   first_row    the number of row 0 in messages
  /// Throws unsupported: doubles without a centre. invalid_argument, with one: elements other than f32 and
  /// f64; other columns than the Index has; a value that becomes too large for a float (names its place).
  CentredRows(std::string_view where, std::string_view what, const Index::State& index, const RowsView& given,
              std::int64_t first_row = 0);
  CentredRows(const CentredRows&) = delete;
  CentredRows& operator=(const CentredRows&) = delete;

  const RowsView& view() const { return view_; }
  operator const RowsView&() const { return view_; }

 private:
  RowsView view_;
  Floats own_;
};

}  // namespace kith
