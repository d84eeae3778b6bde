// Puts rows into an Index in double precision.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "kith/keys.hpp"
#include "kith/neighbors.hpp"
#include "kith/options.hpp"
#include "rows/doubles/prepared_doubles.hpp"
#include "rows/index_state.hpp"
#include "search/stores/index_rows.hpp"

namespace kith {

/// Returns f32 or f64: IndexOptions::arithmetic, or what follows from the element of the rows.
/// Throws invalid_argument: f64 for hamming, or with a centre; f32 for haversine.
Arithmetic arithmetic_of(const IndexOptions& options, Metric metric, Element element);

/// Stores the rows of a new Index: the doubles, and the floats near them, which propose.
///   index  everything but `store` and `doubles` is set
/// Throws as prepare_doubles() and new_store() do.
void put_doubles(Index::State& index, const RowsForIndex& given, const IndexOptions& options);
/// Stores rows that are checked and prepared already.
void put_prepared_doubles(Index::State& index, PreparedDoubles rows, const IndexOptions& options);
/// Leaves rows where their Source has them. It is read twice.
///   proposing(floats)  makes an Index of the floats near the rows, with the metric metric_of_proposals()
void leave_doubles(
    Index::State& index, std::shared_ptr<const Source> source,
    const std::function<std::shared_ptr<const Index::State>(std::shared_ptr<const Source> floats)>&
        proposing);
/// Adds rows to those of `index`, whose other numbers are already those of all rows.
void append_doubles(Index::State& index, const RowsForIndex& more);
/// Keeps only the rows at these places, ascending, as if they were given anew.
void keep_doubles(Index::State& index, std::span<const std::int64_t> places);

/// Turns lists of raw values into distances; rows stay places.
void finish_doubles(ShownBy shown, RadiusKeys keys, RadiusNeighbors& found);

}  // namespace kith
