// Plans a search with a sample of selectors (search/sampling.hpp) before there is any data.
#pragma once

#include "kith/unstable/plan.hpp"

namespace kith {

/// Throws invalid_argument if SearchOptions::sample stands beside options that leave nothing to choose.
void check_sample(const SearchOptions& options);

/// Returns the plan of the first selector of the sample that the device has; the data decide later. Throws
/// unsupported if it has none of them.
Plan plan_before_sample(const DeviceInfo& device, const Problem& problem, const SearchOptions& options);

}  // namespace kith
