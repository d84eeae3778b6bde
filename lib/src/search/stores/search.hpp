// Searches of an Index, whatever its rows are kept in.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "kith/keys.hpp"
#include "kith/neighbors.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/resident/answer_sink.hpp"

namespace kith {

/// Check and prepare `queries`, and give `sink` the k nearest rows of each, by their places.
///   queries  less the centre of the Index (CentredRows)
///   options  by place (MappedOptions)
void search(const Index::State& index, const RowsView& queries, std::int64_t k, const SearchOptions& options,
            AnswerSink& sink, Trace* trace);

/// All rows within radii, by their places; in the same way.
RadiusNeighbors search_within(const Index::State& index, const RowsView& queries,
                              std::span<const float> radii, const SearchOptions& options, Trace* trace);
RadiusKeys search_keys_within(const Index::State& index, const RowsView& queries,
                              std::span<const float> radii, const SearchOptions& options, Trace* trace);

}  // namespace kith
