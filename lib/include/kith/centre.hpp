// A centre: what is subtracted, in double precision, from each column of rows and queries before they are
// rounded to float32. For values that are far from 0 beside their spread, such as coordinates of a map or
// times. docs/contract.md, section 3.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/export.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// Whether distances are made of differences of values, which a centre changes by no more than the rounding.
constexpr bool takes_centre(Metric metric) {
  return metric == Metric::l2 || metric == Metric::squared_l2 || metric == Metric::l1 ||
         metric == Metric::linf;
}

/// What the mean of each column is made of, of rows that come part by part in their order: the same bits
/// however they are parted, and those that Scaling::centre learns.
struct KITH_API ColumnSums {
  std::int64_t rows = 0;
  std::vector<double> first;  ///< row 0
  std::vector<double> sum;    ///< of the differences from it

  /// Throws invalid_argument: other columns than before; an element that is neither f32 nor f64.
  ///        unsupported:      rows that are not on the host.
  void add(const RowsView& more);
  std::vector<double> means() const;  ///< rows > 0
  /// means(), and 0 where a value is not finite: an Index refuses it by its row then.
  std::vector<double> centre() const;
};

}  // namespace kith
