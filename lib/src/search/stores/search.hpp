// Searches an Index, in whatever way its rows are kept.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "kith/keys.hpp"
#include "kith/neighbors.hpp"
#include "kith/trace.hpp"
#include "rows/index_state.hpp"
#include "search/resident/answer_sink.hpp"

namespace kith {

class QuerySet;
class RowStore;
struct SearchRequest;

/// Throws unsupported: SearchOptions::checkpoint is set, but rows are not streamed, or not searched for k.
void check_checkpoint(const std::string& where, const RowStore& store, const SearchOptions& options);

/// Checks and prepares `queries`, and passes the k nearest rows of each to `sink`, by their places.
///   queries  have the centre of the Index subtracted (MovedRows)
///   options  name rows by their places (MappedOptions)
void search(const Index::State& index, const RowsView& queries, std::int64_t k, const SearchOptions& options,
            AnswerSink& sink, Trace* trace);

/// Returns all rows within radii, by their places, for the same kind of arguments.
RadiusNeighbors search_within(const Index::State& index, const RowsView& queries,
                              std::span<const float> radii, const SearchOptions& options, Trace* trace);
/// Does the same for queries made for "within" or prepared.
RadiusNeighbors search_within(const Index::State& index, QuerySet& queries, std::span<const float> radii,
                              const SearchOptions& options, Trace* trace);
/// Returns all rows of a part that are within the radii of a request, by their places in the part.
RadiusKeys keys_of_part(const RowStore& part, const SearchRequest& request, Trace* trace);
RadiusKeys search_keys_within(const Index::State& index, const RowsView& queries,
                              std::span<const float> radii, const SearchOptions& options, Trace* trace);

}  // namespace kith
