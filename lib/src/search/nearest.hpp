// Finds rows by their places, in the arithmetic of the Index.
#pragma once

#include <cstdint>
#include <span>

#include "kith/count_radii.hpp"
#include "kith/neighbors.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/resident/answer_sink.hpp"

namespace kith {

/// Finds the k nearest rows of each query; rows are places.
///   given    as a caller gives them to Index::search()
///   options  name rows by their places (MappedOptions)
void find_nearest(const Index::State& index, const RowsView& given, std::int64_t k,
                  const SearchOptions& options, Neighbors& found, Trace* trace);

/// Passes the k nearest rows of each query, by places, to `sink`. The Index is in single precision.
void find_nearest(const Index::State& index, const RowsView& given, std::int64_t k,
                  const SearchOptions& options, AnswerSink& sink, Trace* trace);

/// Finds all rows within radii. An Index in single precision compares with each radius rounded down to a
/// float: a distance that is a float is within the one exactly if it is within the other.
RadiusNeighbors find_within(const Index::State& index, const RowsView& given, std::span<const double> radii,
                            const SearchOptions& options, Trace* trace);
RadiusNeighbors find_within(const Index::State& index, const RowsView& given, std::span<const float> radii,
                            const SearchOptions& options, Trace* trace);

/// Counts as Index::count() does, or with `totals` as two_point(), with the radii and options of these. The
/// radii are checked: check_radii_of_counts().
///   counts  out: [m, radii], or of totals [radii]
void count_into(const Index::State& index, const RowsView& given, const CountRadii& radii,
                const SearchOptions& options, bool totals, std::span<std::int64_t> counts, Trace* trace);

/// Converts radii as find_within() does.
std::vector<float> floats_below(std::span<const double> radii);
std::vector<double> doubles_of(std::span<const float> radii);

}  // namespace kith
