// How some queries are asked for in one part of the rows: with what the filter says of these rows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Some things of many, one behind the other.
struct RowRange {
  std::int64_t first = 0, count = 0;
};

/// A filter for some of the queries and rows alone: bit t % 32 of word t / 32 is that of row rows.first + t.
/// Refers to the words of the whole filter where the rows begin with a word, and copies them else.
class FilterPart {
 public:
  ///   filters  which rows of `filter`
  FilterPart(MatrixView<const std::uint32_t> filter, RowRange filters, RowRange rows);
  FilterPart(FilterPart&&) = default;
  FilterPart& operator=(FilterPart&&) = default;

  /// [filters.count, ceil(rows.count / 32)]
  MatrixView<const std::uint32_t> words() const { return words_; }

 private:
  std::vector<std::uint32_t> own_;
  MatrixView<const std::uint32_t> words_;
};

class AskedPart {
 public:
  /// What `options` refers to lives longer.
  ///   m        all queries
  ///   options  for all queries and all rows, by place, without `self`
  ///   some     queries that are asked
  ///   rows     places of the part
  AskedPart(std::int64_t m, const SearchOptions& options, RowRange some, RowRange rows);
  AskedPart(const AskedPart&) = delete;
  AskedPart& operator=(const AskedPart&) = delete;

  const SearchOptions& options() const { return options_; }
  /// Report this part's work as from `from` to `to` of the caller's whole.
  void scale_progress(double from, double to);

 private:
  SearchOptions options_;
  std::optional<FilterPart> filter_;
};

}  // namespace kith
