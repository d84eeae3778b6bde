// Queries that the attempts of a plan have left open, searched by a plan of their own.
#pragma once

#include <cstdint>

#include "certified/bounded_search.hpp"
#include "kith/trace.hpp"
#include "rows/resident_rows.hpp"
#include "tiles/workspace.hpp"

namespace kith {

/// Options of the chain for what is left of a search by `plan`, while that holds its memory.
SearchOptions options_for_rest(const ResidentRows& index, const Plan& plan, const SearchOptions& options);

/// Search the open queries of a tile by a plan of their own, in memory of their own, and put their keys where
/// those of the tile are. Throws what planning and searching throw.
///   plan      whose other attempts left them
///   options   with the filter of the open queries
///   queries   [count, dims]  of the tile
///   largest   no element of them is above; not looked at without a proposer
///   proposer  of the plan of their own; none: the chain alone
/// Returns how many queries the proposer left to the chain.
std::int64_t search_rest(const ResidentRows& index, const Plan& plan, const SearchOptions& options,
                         const QueryRows& queries, float largest, const Open& open, Proposer proposer,
                         const Workspace& workspace, Trace* trace);

}  // namespace kith
