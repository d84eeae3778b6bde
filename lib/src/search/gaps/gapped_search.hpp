// Searches rows with missing values: products propose, the chain disposes. docs/certificate.md, section 9.
#pragma once

#include <cstdint>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/resident_rows.hpp"
#include "search/resident/answer_sink.hpp"
#include "search/resident/search_request.hpp"

namespace kith {

/// Returns whether products propose: the caller asks for a proposer, or they are faster than the chain.
///   prepares  extended rows are made in advance, so that the time of making them does not count
bool takes_gap_products(const ResidentRows& index, std::int64_t m, std::int64_t k,
                        const SearchOptions& options, bool prepares = false);

/// Returns how many rows products propose where k are wanted.
std::int64_t gaps_proposed_for(std::int64_t k, std::int64_t rows, const SearchOptions& options);

/// Do what plan_search() and search_resident() do, where takes_gap_products().
Plan plan_gapped(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options);
void search_gapped(const ResidentRows& index, const SearchRequest& request, AnswerSink& sink, Trace* trace);
/// Makes what such a search would make of the rows and keep.
void prepare_gapped(const ResidentRows& index, std::int64_t m, std::int64_t k, const SearchOptions& options);

}  // namespace kith
