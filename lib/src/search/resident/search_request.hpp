// What a search of some rows is asked for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "certified/found_before.hpp"
#include "kith/unstable/plan.hpp"
#include "search/resident/query_set.hpp"

namespace kith {

class StayingQueries;
class PartSink;

/// Refers to memory of others. A search of rows in parts makes one for each part.
struct SearchRequest {
  QuerySet& queries;
  const SearchOptions& options;  ///< rows go by their places
  std::int64_t k = 0;            ///< nearest rows of each query; not looked at where there are radii
  std::optional<std::span<const float>> radii = {};  ///< [1 or m]  all rows within them are searched for

  std::int64_t first_query = 0, first_row = 0;  ///< of a part, among all queries and rows of the search
  std::size_t member = 0;                       ///< of a set of devices, whose parts follow each other
  FoundBefore known = {};                       ///< among other rows, with at least k values a query
  StayingQueries* staying_queries = nullptr;    ///< who keeps the queries on the device; null: nobody
  std::optional<Plan>* stream_plan = nullptr;   ///< of the chunks before, for all that have as many rows
  PartSink* parts = nullptr;                    ///< where what is found in parts goes; null: there are none

  std::int64_t m() const { return queries.count(); }

  /// The same for some of the queries, which are `of`, and rows from `row` on.
  SearchRequest part(QuerySet& of, const SearchOptions& own, std::int64_t query, std::int64_t row) const {
    SearchRequest part{of, own, k, radii};
    if (radii && static_cast<std::int64_t>(radii->size()) == m() && of.count() != m())
      part.radii = radii->subspan(static_cast<std::size_t>(query), static_cast<std::size_t>(of.count()));
    part.first_query = first_query + query;
    part.first_row = first_row + row;
    part.member = member;
    part.parts = parts;
    return part;
  }
};

}  // namespace kith
