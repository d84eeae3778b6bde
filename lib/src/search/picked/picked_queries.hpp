// Some queries of a search, and lists of what was found for them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kith/key.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// Holds queries by their numbers in a search, with their filters.
class PickedQueries {
 public:
  ///   request  must outlive this; its queries are prepared
  ///   numbers  ascending
  PickedQueries(const SearchRequest& request, std::vector<std::int64_t> numbers);
  PickedQueries(const PickedQueries&) = delete;
  PickedQueries& operator=(const PickedQueries&) = delete;

  std::int64_t count() const { return rows_.rows(); }
  std::int64_t number(std::int64_t i) const { return numbers_[static_cast<std::size_t>(i)]; }
  MatrixView<const float> rows() const { return rows_; }
  /// Returns whether each query is one of the rows, which is not its own neighbour.
  bool leaves_own() const { return self_.has_value(); }
  /// Returns the place of the row that query i is, as SearchOptions::self says.
  std::int64_t own(std::int64_t i) const { return *self_ + number(i); }
  /// Returns options for a search of these queries: of the request, with their filters, but without `self`,
  /// a radius and progress, which are the caller's.
  SearchOptions options() const;

 private:
  const SearchOptions& asked_;
  const std::vector<std::int64_t> numbers_;
  const std::optional<std::int64_t> self_;
  std::vector<float> own_rows_;
  std::vector<std::uint32_t> own_words_;
  MatrixView<const float> rows_;
  MatrixView<const std::uint32_t> words_;
};

/// Keeps the lists of a search.
class PickedLists final : public AnswerSink {
 public:
  void begin(std::int64_t m, std::int64_t k) override;
  void put(std::int64_t query, std::span<const Key> nearest) override;
  void put_all(Keys&) override {}  // never called, since these rows are not in parts

  /// Returns the list of query i without padding, and without this row, if it is there.
  std::span<const Key> list(std::int64_t i) const;
  std::span<const Key> list_without(std::int64_t i, std::int64_t own);

 private:
  std::size_t k_ = 0;
  std::vector<Key> keys_;
};

}  // namespace kith
