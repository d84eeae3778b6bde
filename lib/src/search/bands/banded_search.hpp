// Searches rows of bits band by band, and leaves out bands that can hold no near row: docs/boxes.md,
// section 7.
#pragma once

#include <cstdint>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// Returns whether a search takes bands: boxes were asked for, of rows of bits by a metric of two sums.
bool takes_bands(const ResidentRows& index, const SearchOptions& options);

/// Returns the plan of such a search, which is that of all rows; each band gets a plan of its own.
Plan plan_banded(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options);

/// Searches for one query after another.
void search_banded(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink, Trace* trace);

}  // namespace kith
