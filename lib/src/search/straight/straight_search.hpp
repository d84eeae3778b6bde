// Searches rows of a caller once, where they lie: a CPU lands a piece of them that fits its cache,
// searches it, and overwrites it by the next. No copy of all rows is made.
#pragma once

#include "search/resident/answer_sink.hpp"
#include "search/straight/straight_rules.hpp"

namespace kith {

/// Passes the k nearest rows of each query to `sink`, as an Index of the rows does, with its bits.
/// Returns false, and passes nothing, if an Index is to be made: straight_pieces() says so, something is
/// wrong with the rows or the queries, which the Index refuses, or there is no memory for the pieces.
///   trace  gets what was done; null: not wanted
/// Throws out_of_memory; interrupted: options.stop was asked to stop; what options.progress throws.
bool search_straight(const SearchOnce& asked, AnswerSink& sink, Trace* trace);

}  // namespace kith
