// Searches an Index in double precision: floats propose, the chain of doubles disposes. docs/certificate.md,
// section 7.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "kith/count_radii.hpp"
#include "kith/keys.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/doubles/double_index.hpp"
#include "search/doubles/double_queries.hpp"
#include "search/doubles/double_sink.hpp"
#include "search/lists/count_sum.hpp"

namespace kith {

/// Returns how many neighbours are proposed where k are wanted.
std::int64_t proposed_for(std::int64_t k, std::int64_t rows, const SearchOptions& options);

/// Passes the k nearest rows of each query to `sink`.
///   given    of any element but bits, on the host or on the device of the Index
///   options  name rows by their places (MappedOptions)
/// Throws as Index::search() does.
void search_doubles(const Index::State& index, const RowsView& given, std::int64_t k,
                    const SearchOptions& options, DoubleSink& sink, Trace* trace);

/// Returns all rows within radii, by their places.
///   radii  [m], or [1] for all
/// Throws as Index::within() does.
RadiusKeys search_doubles_within(const Index::State& index, const RowsView& given,
                                 std::span<const double> radii, const SearchOptions& options, Trace* trace);

/// Does the same for queries that are prepared.
RadiusKeys search_doubles_within(const Index::State& index, const DoubleQueries& queries,
                                 std::span<const double> radii, const SearchOptions& options, Trace* trace);

/// Adds up how many rows are within the radii: floats list the rows that may be, and the chain of doubles
/// counts them.
///   queries  made by DoubleQueries, or prepared
///   options  name rows by their places (MappedOptions)
/// Throws as Index::count() does.
void count_doubles(const Index::State& index, const DoubleQueries& queries, const CountRadii& radii,
                   const SearchOptions& options, CountSum& sum, Trace* trace);

}  // namespace kith
