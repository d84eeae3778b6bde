// Searches wide rows: their projections propose, the chain disposes. docs/certificate.md, section 10.
#pragma once

#include <cstdint>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/projected/projected_rows.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// Returns whether projections propose: a sample says that few rows are then left, and that takes less time
/// than all products of whole rows.
///   prepares  projections are made in advance, so that the time of making them does not count
bool takes_projections(const ResidentRows& index, std::int64_t m, std::int64_t k,
                       const SearchOptions& options, bool prepares = false);

/// Returns whether a search counts so many rows that it teaches others: without a filter, or with one for all
/// queries that strikes few, as removed rows do.
bool counts_most_rows(const ResidentRows& index, const SearchOptions& options);

/// Returns whether projections take less time than products of whole rows, if a query has to list so many
/// coarse rows and to rank so many rows, these perhaps by their bytes.
bool projections_pay(const ResidentRows& index, double listed, double ranked, bool bytes);

/// Do what plan_search() and search_resident() do, where takes_projections().
Plan plan_projected(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options);
void search_projected(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink,
                      Trace* trace);
/// Makes what such a search would make of the rows and keep.
void prepare_projected(const ResidentRows& index, std::int64_t m, std::int64_t k,
                       const SearchOptions& options);

}  // namespace kith
