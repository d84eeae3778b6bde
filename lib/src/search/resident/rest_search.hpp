// Searches queries that the attempts of a plan left open, by a separate plan.
#pragma once

#include <cstdint>

#include "certified/bounded_search.hpp"
#include "kith/trace.hpp"
#include "rows/resident_rows.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// Returns options for searching open queries by the chain, while the search by `plan` keeps its memory.
SearchOptions options_for_rest(const ResidentRows& index, const Plan& plan, const SearchOptions& options);

/// Searches the open queries of a tile by a separate plan, in separate memory, and puts their keys among
/// those of the tile. Throws what planning and searching throw.
///   plan      the plan whose attempts left these queries open
///   options   have the filter of the open queries
///   queries   [count, dims]  queries of the tile
///   largest   no element of the queries is above it; unused without a proposer
///   proposer  proposer of the separate plan; none: the chain alone
/// Returns how many queries the proposer left to the chain.
std::int64_t search_rest(const ResidentRows& index, const Plan& plan, const SearchOptions& options,
                         const QueryRows& queries, float largest, const Open& open, Proposer proposer,
                         const Workspace& workspace, Trace* trace);

}  // namespace kith
