// Declares what an Index in double precision holds besides its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "rows/doubles/prepared_doubles.hpp"
#include "rows/doubles/rounded_rows.hpp"
#include "rows/index_state.hpp"

namespace kith {

/// Rows of doubles in chunks, by their places. Copies share the chunks.
class DoubleRows {
 public:
  struct Chunk {
    std::int64_t first;  ///< place of its first row
    std::shared_ptr<const PreparedDoubles> rows;
  };

  std::int64_t rows() const { return rows_; }
  std::int64_t dims() const { return chunks_.front().rows->dims; }
  const std::vector<Chunk>& chunks() const { return chunks_; }
  std::span<const double> row(std::int64_t place) const;

  void append(PreparedDoubles more);
  /// Returns only the rows at these places, in one chunk; all rows for no places.
  ///   places  ascending
  PreparedDoubles gathered(std::span<const std::int64_t> places) const;

 private:
  std::int64_t rows_ = 0;
  std::vector<Chunk> chunks_;
};

/// The rows of an Index in double precision, and an Index of the floats near them, which proposes.
struct DoubleIndex {
  DoubleRows rows;
  double largest = 0;  ///< max |element| of the rows, including removed ones
  Rounding rounding;
  RowErrors errors;  ///< of all rows
  /// Rows that are rounded, at the same places. Its metric is metric_of_proposals(), no row is removed, and
  /// numbers are places.
  std::shared_ptr<const Index::State> proposing;
};

/// Returns the metric by which floats propose: squares for l2 and for cosine, whose rows are divided by their
/// norms already.
constexpr Metric metric_of_proposals(Metric metric) {
  return sums_squares(metric) ? Metric::squared_l2 : metric;
}

}  // namespace kith
