// Chooses a selector by a sample, as GS_KNN finds the fastest of several selectors on the data at hand (Liu,
// Zheng, Liu, Journal of Chinese Computer Systems 40(6), 2019).
#pragma once

#include <cstdint>

#include "kith/unstable/plan.hpp"
#include "rows/queries/query_rows.hpp"
#include "search/resident/pipeline.hpp"

namespace kith {

/// Searches for the neighbours of one query with each selector of the sample, times `select` and its `merge`
/// by the device's clock, and plans for all queries with the fastest. Which query is drawn depends on the
/// sizes alone. Selectors that the device refuses are left out, and named in Plan::reason.
///   queries  [m, dims], prepared
/// Throws unsupported: it refuses all of them (says why).
Plan plan_by_sample(const ResidentRows& index, const QueryRows& queries, std::int64_t k,
                    const SearchOptions& options);

}  // namespace kith
