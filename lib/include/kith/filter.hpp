// Says which training rows count in a search, for SearchOptions::filter.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kith/export.hpp"
#include "kith/matrix_view.hpp"

namespace kith {

/// Holds a row of bits for each of `filters` filters over n training rows: bit t % 32 of word t / 32 is 1 if
/// row t counts.
class KITH_API RowFilter {
 public:
  /// Makes filters by which all rows count, or no row does.
  ///   n        training rows, >= 1
  ///   filters  1: the same for all queries; m: one per query
  /// Throws invalid_argument if a size is below 1.
  explicit RowFilter(std::int64_t n, std::int64_t filters = 1, bool all = true);

  /// Makes a filter for all queries, by which only the rows of `list` count. Throws invalid_argument if a row
  /// is outside 0..n-1 (names it).
  static RowFilter only(std::int64_t n, std::span<const std::int64_t> list);

  /// Throws invalid_argument if `row` or `filter` does not exist.
  void set(std::int64_t row, bool counts, std::int64_t filter = 0);
  bool counts(std::int64_t row, std::int64_t filter = 0) const;
  std::int64_t count(std::int64_t filter = 0) const;  ///< number of rows that count

  /// Returns the filter of a shard: of rows first ... first + count - 1, numbered 0 ... count - 1.
  /// Throws invalid_argument if there are no such rows, or count is below 1.
  RowFilter slice(std::int64_t first, std::int64_t count) const;

  std::int64_t rows() const { return rows_; }
  std::int64_t filters() const { return filters_; }
  /// Views the words [filters(), ceil(rows() / 32)]; this object must outlive the view.
  MatrixView<const std::uint32_t> view() const;

 private:
  std::int64_t rows_, filters_, words_;
  std::vector<std::uint32_t> bits_;  ///< [filters, words]
};

/// Holds the words of filters for SearchOptions::filter. It keeps a RowFilter, which its copies share, or
/// views words that the caller keeps.
class KITH_API FilterWords : public MatrixView<const std::uint32_t> {
 public:
  FilterWords() = default;  ///< no filter: all rows count
  /// Keeps `filter`: a temporary, or one that is moved, is not copied.
  FilterWords(RowFilter filter);
  /// Views words that the caller keeps during the search.
  FilterWords(const std::uint32_t* words, std::int64_t filters, std::int64_t words_a_filter)
      : MatrixView(words, filters, words_a_filter) {}
  FilterWords(const std::uint32_t* words, std::int64_t filters, std::int64_t words_a_filter,
              std::int64_t stride)
      : MatrixView(words, filters, words_a_filter, stride) {}
  explicit FilterWords(MatrixView<const std::uint32_t> words) : MatrixView(words) {}

 private:
  explicit FilterWords(std::shared_ptr<const RowFilter> filter);
  std::shared_ptr<const RowFilter> kept_;  ///< null: the caller keeps the words
};

}  // namespace kith
