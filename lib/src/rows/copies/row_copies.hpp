// Tells which rows are equal, bit for bit, so that each different row is kept and searched once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace kith {

/// Says which rows are copies of which distinct rows. Rows go by their places, distinct rows by numbers
/// 0, 1, ..., which ascend with the place of their first copy.
class RowCopies {
 public:
  RowCopies() = default;
  ///   distinct_of  [rows]  the distinct row of each row: at most one more than the largest before it
  explicit RowCopies(std::vector<std::uint32_t> distinct_of);

  std::int64_t rows() const { return static_cast<std::int64_t>(distinct_of_.size()); }
  std::int64_t distinct() const { return static_cast<std::int64_t>(begin_.size()) - 1; }
  std::uint32_t distinct_of(std::int64_t place) const {
    return distinct_of_[static_cast<std::size_t>(place)];
  }
  /// Returns the places of the copies of a distinct row, ascending; there is at least one.
  std::span<const std::uint32_t> of(std::int64_t distinct) const {
    const auto d = static_cast<std::size_t>(distinct);
    return std::span(places_).subspan(begin_[d], begin_[d + 1] - begin_[d]);
  }

  /// Returns these rows with others behind them. No row of `more` counts as a copy of a row here.
  RowCopies with(const RowCopies& more) const;
  /// Returns the copies among only the rows at these places, and the numbers of their distinct rows here.
  ///   places  ascending
  std::pair<RowCopies, std::vector<std::int64_t>> subset(std::span<const std::int64_t> places) const;

 private:
  std::vector<std::uint32_t> distinct_of_;
  std::vector<std::uint32_t> begin_ = {0};  ///< [distinct + 1] where the copies of each begin in places_
  std::vector<std::uint32_t> places_;
};

}  // namespace kith
