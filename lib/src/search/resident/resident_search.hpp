// Searches rows that one device has for the nearest, from prepared queries to answers.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/trace.hpp"
#include "rows/resident_rows.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// Adapts options to the form of `rows`: rows that are not there as floats are searched by their quantized
/// rows, within the memory that is left.
///   own      memory for options that differ
///   returns  `given` or `own`
const SearchOptions& options_for(const ResidentRows& rows, const SearchOptions& given, SearchOptions& own);

/// Plans the search of `request`, prepares the queries, and searches. Returns the queries whose answers are
/// left empty, which rows that are not there as floats could not decide.
std::vector<std::int64_t> search_resident(const ResidentRows& rows, const SearchRequest& request,
                                          AnswerSink& sink, Trace* trace);

}  // namespace kith
