// Gathers the rows that a filter keeps, if they are few: they are copied on the device, and searched alone.
#pragma once

#include <cstdint>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// Returns whether a search gathers rows: it has one filter for all queries that keeps few rows, and so many
/// queries that gathering takes little time compared with searching all rows.
///   options  name rows by their places
bool prefilters(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options);

/// Returns the plan for the gathered rows.
Plan plan_prefiltered(const ResidentRows& index, std::int64_t m, std::int64_t k,
                      const SearchOptions& options);

/// Searches the gathered rows. Returns false if there is no memory for them; then nothing was written.
bool search_prefiltered(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink,
                        Trace* trace);

}  // namespace kith
