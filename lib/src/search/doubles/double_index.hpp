// Declares what an Index in double precision holds besides its numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "rows/doubles/prepared_doubles.hpp"
#include "rows/doubles/rounded_rows.hpp"
#include "rows/index_state.hpp"
#include "search/doubles/double_source.hpp"
#include "search/doubles/doubles_on_device.hpp"

namespace kith {

/// Rows of doubles by their places: in chunks of the host's memory, or in a Source. Copies share them.
class DoubleRows {
 public:
  struct Chunk {
    std::int64_t first;  ///< place of its first row
    std::shared_ptr<const PreparedDoubles> rows;
    std::shared_ptr<DoublesOnDevice> there;  ///< the same rows, if the device of the Index has ranked
  };

  DoubleRows() = default;
  explicit DoubleRows(std::shared_ptr<const DoubleSource> source)
      : rows_(source->rows()), dims_(source->dims()), source_(std::move(source)) {}

  std::int64_t rows() const { return rows_; }
  std::int64_t dims() const { return dims_; }
  /// Returns all rows, or none if they are in a Source.
  const std::vector<Chunk>& chunks() const { return chunks_; }
  /// Returns the Source of the rows; null if they are in chunks.
  const DoubleSource* source() const { return source_.get(); }

  ///   device  of the Index
  void append(PreparedDoubles more, const DeviceInfo& device);
  /// Returns the number of bytes that the device has of them.
  std::size_t bytes_on_device() const;
  /// Returns only the rows at these places, in one chunk; all rows for no places.
  ///   places  ascending
  PreparedDoubles gathered(std::span<const std::int64_t> places) const;

 private:
  std::span<const double> row(std::int64_t place) const;

  std::int64_t rows_ = 0, dims_ = 0;
  std::vector<Chunk> chunks_;
  std::shared_ptr<const DoubleSource> source_;
};

/// The rows of an Index in double precision, and an Index of the floats near them, which proposes.
struct DoubleIndex {
  DoubleRows rows;
  double largest = 0;   ///< max |element| of the rows, including removed ones until they are compacted
  IndexOptions placed;  ///< placement, shares, reserve and deduplicate, for rows that are put there anew
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
