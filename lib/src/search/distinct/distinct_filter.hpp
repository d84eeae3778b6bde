// Converts a filter of rows to one of distinct rows.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"
#include "rows/copies/row_copies.hpp"

namespace kith {

/// Says of a search of distinct rows which of these count: those with a copy that counts.
class DistinctFilter {
 public:
  ///   filter  [f, words_of_filter(rows)] of all rows; empty: all count
  DistinctFilter(const RowCopies& copies, MatrixView<const std::uint32_t> filter);

  /// Returns [f, words_of_filter(distinct)]; empty: all count.
  MatrixView<const std::uint32_t> words() const;
  /// Returns the caller's words for a query; null: all rows count.
  const std::uint32_t* of_query(std::int64_t query) const {
    return filter_.rows() == 0 ? nullptr : filter_.row(filter_.rows() == 1 ? 0 : query);
  }
  /// Returns whether the first copy of a distinct row does not count, while another does. Among equally near
  /// distinct rows that with the smaller number may then not have the first row.
  bool changes_order(std::int64_t query) const {
    return filter_.rows() > 0 && changed_[filter_.rows() == 1 ? 0 : static_cast<std::size_t>(query)] != 0;
  }
  bool changes_order() const;

 private:
  const MatrixView<const std::uint32_t> filter_;
  std::int64_t words_a_filter_ = 0;
  std::vector<std::uint32_t> words_;
  std::vector<unsigned char> changed_;  ///< [f]
};

}  // namespace kith
