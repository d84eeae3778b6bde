// Plans a search with a sample of selectors (search/sampling.hpp) before there is any data.
#pragma once

#include "kith/unstable/plan.hpp"

namespace kith {

/// Throws invalid_argument if SearchOptions::sample is set together with options that leave no choice.
void check_sample(const SearchOptions& options);

/// Returns the plan for the first selector of the sample that the device has; the selector is chosen later,
/// with the data. Throws unsupported if the device has none of them.
Plan plan_before_sample(const DeviceInfo& device, const Problem& problem, const SearchOptions& options);

}  // namespace kith
