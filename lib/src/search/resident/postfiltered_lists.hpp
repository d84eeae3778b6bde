// Strikes rows that do not count out of the lists of a search that ignored its filter. docs/certificate.md,
// section 4.
#pragma once

#include <cstdint>
#include <span>

#include "kith/trace.hpp"
#include "kith/unstable/plan.hpp"
#include "rows/queries/query_rows.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Leaves in each list the k nearest rows that count, then no_key. If a list has too few of them and may lack
/// rows, its query is searched by the chain with the filter.
///   options  with the filter, and perhaps `self`
///   queries  [count, dims]  queries of a tile; the first one is number `first` of the search
///   keys     [count, plan.problem.k]
void leave_filtered_out(const ResidentRows& index, const Plan& plan, const SearchOptions& options,
                        const QueryRows& queries, std::int64_t first, std::int64_t k, std::span<Key> keys,
                        Trace* trace);

}  // namespace kith
