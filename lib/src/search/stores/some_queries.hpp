// Declares SomeQueries, with which a part of the queries is searched once more.
#pragma once

#include <cstdint>
#include <vector>

#include "search/resident/query_set.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

SearchOptions without_self(const SearchOptions& options);
/// Returns the options of a second search for queries that a first one left open: its way does not matter to
/// the caller.
SearchOptions options_of_rest(const SearchOptions& asked);

/// Copies some queries of a request.
class SomeQueries {
 public:
  ///   numbers  of these queries
  SomeQueries(const SearchRequest& request, const std::vector<std::int64_t>& numbers);

  QuerySet& queries() { return queries_; }
  /// Returns the options of the request with the filters of these queries, but without `self` and without
  /// progress, which was reported already.
  const SearchOptions& options() const { return options_; }

 private:
  SearchOptions options_;
  std::vector<unsigned char> given_;
  std::vector<float> rows_;
  std::vector<std::uint32_t> words_;
  QuerySet queries_;
};

}  // namespace kith
