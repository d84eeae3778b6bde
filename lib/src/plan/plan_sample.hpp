// A sample of selectors (search/sampling.hpp), as far as options and devices go: before there is data.
#pragma once

#include "kith/plan.hpp"

namespace kith {

/// Throws invalid_argument: PlanOptions::sample beside options that leave nothing to choose.
void check_sample(const PlanOptions& options);

/// What can be said before there is data: the plan of the first selector of the sample that the device has.
/// Throws unsupported: it has none of them.
Plan plan_before_sample(const DeviceInfo& device, const Problem& problem, const PlanOptions& options);

}  // namespace kith
