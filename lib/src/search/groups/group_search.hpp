// Searches an Index whose rows have groups: query group g asks row group g.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "kith/count_radii.hpp"
#include "kith/keys.hpp"
#include "kith/neighbors.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/doubles/double_sink.hpp"
#include "search/lists/count_sum.hpp"
#include "search/resident/answer_sink.hpp"

namespace kith {

/// Returns the groups of the rows of a new Index; null without IndexOptions::groups.
/// Throws invalid_argument: borders that do not ascend from 0 to `rows`; ids; more rows than a key can name.
std::shared_ptr<const RowGroups> groups_of(const Device& device, const IndexOptions& options,
                                           std::int64_t rows);

/// Refuses an Index with groups.
///   what  does not go by groups, for the message
/// Throws unsupported.
void refuse_groups(std::string_view where, const Index::State& index, std::string_view what);

/// Refuses rows counted in their groups, where their labels or values are looked up.
void check_numbered_in_whole(std::string_view where, const SearchOptions& options);

/// Pass the k nearest rows of each query among those of its group to `sink`, by places, or counted from the
/// group; a list is padded if the group has fewer rows. The second is of an Index in double precision.
///   given  as a caller gives them to Index::search()
void search_groups(const Index::State& index, const RowsView& given, std::int64_t k,
                   const SearchOptions& options, AnswerSink& sink, Trace* trace);
void search_groups(const Index::State& index, const RowsView& given, std::int64_t k,
                   const SearchOptions& options, DoubleSink& sink, Trace* trace);

/// Finds the rows within radii of some queries, in an Index without groups.
///   radii  floats or doubles, [1 or m]
template <class Radii>
using FindWithin = std::function<RadiusNeighbors(const Index::State& index, const RowsView& given,
                                                 Radii radii, const SearchOptions& options, Trace* trace)>;

/// Finds all rows of its group that are within a radius of a query: `find` searches one group.
template <class Radii>
RadiusNeighbors within_groups(const Index::State& index, const RowsView& given, Radii radii,
                              const SearchOptions& options, Trace* trace, const FindWithin<Radii>& find);

/// Counts rows within radii of some queries, in an Index without groups.
using FindCounts =
    std::function<void(const Index::State& index, const RowsView& given, const CountRadii& radii,
                       const SearchOptions& options, CountSum& sum, Trace* trace)>;

/// Counts the rows of its group that are within radii of a query: `find` counts those of one group.
void count_groups(const Index::State& index, const RowsView& given, const CountRadii& radii,
                  const SearchOptions& options, CountSum& sum, Trace* trace, const FindCounts& find);

/// Makes now what search_groups() for m queries would make: the groups that it searches by themselves.
void prepare_groups(const Index::State& index, std::int64_t m, std::int64_t k, const SearchOptions& options);

/// Returns what search_groups() would do for m queries.
Plan plan_groups(const Index::State& index, std::int64_t m, std::int64_t k, const SearchOptions& options);

}  // namespace kith
