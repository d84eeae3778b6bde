// A search for the nearest of rows that one device has: from prepared queries to answers.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/trace.hpp"
#include "rows/resident_rows.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// What a caller asks of `rows`, as they can be asked: of rows that are not there as floats their quantized
/// rows, within what is left of the device.
///   own      room for options that differ
///   returns  `given` or `own`
const SearchOptions& options_for(const ResidentRows& rows, const SearchOptions& given, SearchOptions& own);

/// Prepares the queries of `request` once they are planned for, and searches for them.
/// Returns the queries whose answers are left empty: rows that are not there as floats could not decide.
std::vector<std::int64_t> search_resident(const ResidentRows& rows, const SearchRequest& request,
                                          AnswerSink& sink, Trace* trace);

}  // namespace kith
