// Makes rows of any element from rows of float32.
#pragma once

#include <vector>

#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "workloads/rows.hpp"

namespace kith::workloads {

/// Rounds each value towards 0 to one that `element` can hold; for u8 values lose their sign. For cosine a
/// row that becomes all zeros begins with a 1. For f32 and bits nothing changes.
void round_to(Element element, Metric metric, Rows& rows);

/// Owns rows of an element, stored without gaps.
class StoredRows {
 public:
  /// Stores values that `element` can hold; for bits, the 32 bits of each float are 32 columns.
  StoredRows(Element element, const Rows& rows);

  RowsView view() const { return {bytes_.data(), element_, rows_, cols_}; }

 private:
  Element element_;
  std::int64_t rows_, cols_;
  std::vector<unsigned char> bytes_;
};

}  // namespace kith::workloads
