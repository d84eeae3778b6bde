// Makes the options of a search for some queries in a part of the rows, with the filter of these rows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Names a range of successive rows or queries.
struct RowRange {
  std::int64_t first = 0, count = 0;
};

/// Holds the filter of only some queries and rows: bit t % 32 of word t / 32 belongs to row rows.first + t.
/// It refers to the words of the whole filter if the rows begin at a word, else it copies them.
class FilterPart {
 public:
  ///   filter  one for all of m queries, or one for each
  ///   some    range of the queries that are asked
  FilterPart(MatrixView<const std::uint32_t> filter, std::int64_t m, RowRange some, RowRange rows);
  FilterPart(FilterPart&&) = default;
  FilterPart& operator=(FilterPart&&) = default;

  /// Returns the words, [1 or some.count, ceil(rows.count / 32)].
  MatrixView<const std::uint32_t> words() const { return words_; }

 private:
  std::vector<std::uint32_t> own_;
  MatrixView<const std::uint32_t> words_;
};

class AskedPart {
 public:
  /// The memory that `options` refers to must outlive this.
  ///   m        all queries
  ///   options  options of all queries and all rows, by place, without `self`
  ///   some     queries that are asked
  ///   rows     places of the part
  AskedPart(std::int64_t m, const SearchOptions& options, RowRange some, RowRange rows);
  AskedPart(const AskedPart&) = delete;
  AskedPart& operator=(const AskedPart&) = delete;

  const SearchOptions& options() const { return options_; }
  /// Reports this part's progress as the range from `from` to `to` of the caller's search.
  void scale_progress(double from, double to);

 private:
  SearchOptions options_;
  std::optional<FilterPart> filter_;
};

}  // namespace kith
