// Finds and ranks all rows that may be near enough to some queries, for a search in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/doubles/double_queries.hpp"
#include "search/doubles/double_ranking.hpp"
#include "search/doubles/double_sink.hpp"

namespace kith {

/// Queries whose rows are looked for.
struct OpenQueries {
  std::vector<std::int64_t> numbers;
  std::vector<float> bounds;  ///< the largest chain of floats of a row that may count
};

class NearRows {
 public:
  /// All arguments must outlive this.
  ///   options  of the radius searches of floats; `self` names the row that is left out of the lists
  ///   trace    gets what these searches did; null: not wanted
  NearRows(const Index::State& index, const DoubleQueries& queries, DoubleRanking& ranking,
           const SearchOptions& options, Trace* trace)
      : index_(index), queries_(queries), ranking_(ranking), options_(options), trace_(trace) {}

  /// Passes all rows within the bound of each query to `take(i, list)`, by ascending i, a place in `open`.
  /// Lists are sorted.
  void each(const OpenQueries& open,
            const std::function<void(std::size_t i, std::span<const RankedRow> list)>& take);

 private:
  /// The rows of some queries: those of query i are places[first[i]] ... places[first[i + 1] - 1].
  struct Found {
    std::vector<std::int64_t> first, places;
    std::size_t count(std::size_t i) const { return static_cast<std::size_t>(first[i + 1] - first[i]); }
  };

  Found find(const OpenQueries& open, std::size_t first, std::size_t count);
  std::vector<std::vector<RankedRow>> ranked(std::span<const std::int64_t> numbers, const Found& found);
  void rank_group(std::span<const std::int64_t> numbers, const Found& found,
                  std::span<const std::size_t> group, std::vector<std::vector<RankedRow>>& lists);

  const Index::State& index_;
  const DoubleQueries& queries_;
  DoubleRanking& ranking_;
  const SearchOptions& options_;
  Trace* const trace_;
};

}  // namespace kith
