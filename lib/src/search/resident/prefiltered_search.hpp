// Filters that keep few rows: these are put on the device once more, and searched alone.
#pragma once

#include <cstdint>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// Whether a search goes so: by one filter for all queries, which keeps few rows, and for so many queries
/// that reading the rows from the device is little beside comparing all of them.
///   options  by place
bool prefilters(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options);

/// The plan for the rows that count alone.
Plan plan_prefiltered(const ResidentRows& index, std::int64_t m, std::int64_t k,
                      const SearchOptions& options);

/// The search itself. Returns false where there is no memory for the rows that count; then nothing was
/// written.
bool search_prefiltered(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink,
                        Trace* trace);

}  // namespace kith
