// Sample and choose: GS_KNN's way to find the faster of several selectors on the data at hand (Liu,
// Zheng, Liu, Journal of Chinese Computer Systems 40(6), 2019).
#pragma once

#include <cstdint>

#include "kith/unstable/plan.hpp"
#include "rows/landed/query_rows.hpp"
#include "search/resident/pipeline.hpp"

namespace kith {

/// Search for the neighbours of one of the queries with each selector of the sample, time `select` and
/// its `merge` on the device's clock, and plan for all queries with the fastest. Which query is drawn
/// depends on the sizes alone. Selectors that the device refuses are left out, and named in Plan::reason.
///   queries  [m, dims], prepared
/// Throws unsupported: it refuses all of them (says why).
Plan plan_by_sample(const ResidentRows& index, const QueryRows& queries, std::int64_t k,
                    const SearchOptions& options);

}  // namespace kith
