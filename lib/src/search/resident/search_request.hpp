// Declares the request of a search.
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

/// Says what a search asks for. It refers to memory of others. A search of rows in parts makes a request for
/// each part.
struct SearchRequest {
  QuerySet& queries;
  const SearchOptions& options;  ///< rows go by their places
  std::int64_t k = 0;            ///< nearest rows of each query; unused if there are radii
  std::optional<std::span<const float>> radii = {};  ///< [1 or m]  all rows within them are wanted

  std::int64_t first_query = 0, first_row = 0;  ///< place of a part among all queries and rows of the search
  std::size_t member = 0;                       ///< which member of a set of devices; its parts come one
                                                ///< after another
  FoundBefore known = {};                       ///< found among other rows, with at least k values per query
  StayingQueries* staying_queries = nullptr;    ///< keeps the queries on the device; null: nobody does
  std::optional<Plan>* stream_plan = nullptr;   ///< plan of earlier chunks, for all chunks of equal length
  PartSink* parts = nullptr;                    ///< receives what is found in parts; null: there are none

  std::int64_t m() const { return queries.count(); }

  /// Returns the request for the queries `of`, which begin at `query`, and for rows from `row` on.
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
