// A centre is subtracted, in double precision, from each column of rows and queries before they are rounded
// to float32. Use it for values that are large compared with their spread, such as map coordinates or times.
// docs/contract.md, section 3.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/export.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// Returns whether distances depend on differences of values, which a centre changes by no more
/// than rounding.
constexpr bool takes_centre(Metric metric) {
  return takes_box(metric);
}

/// Computes the mean of each column from rows that come in parts, in order. The bits do not depend on how the
/// rows are divided, and are those that Scaling::centre learns.
struct KITH_API ColumnSums {
  std::int64_t rows = 0;
  std::vector<double> first;  ///< row 0
  std::vector<double> sum;    ///< sums of the differences from row 0

  /// Throws invalid_argument if the columns differ from those before, or elements are neither f32 nor f64;
  ///        unsupported if rows are not on the host.
  void add(const RowsView& more);
  std::vector<double> means() const;  ///< requires rows > 0
  /// Returns means(), but 0 where a value is not finite: an Index then refuses it and names the row.
  std::vector<double> centre() const;
};

}  // namespace kith
