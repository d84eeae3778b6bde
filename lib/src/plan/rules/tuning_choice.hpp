// Makes plans from measurements.
#pragma once

#include <optional>
#include <string>

#include "kith/unstable/plan.hpp"

namespace kith {

/// Returns the plan by DeviceInfo::tuning. It is empty if that is null, if the caller has fixed the plan, if
/// nothing similar was measured, or if the measured plan is impossible for this problem.
///   why_not  out: the reason in the last two cases, as in "built-in rule, as nothing like it was measured"
/// This is a pure function. docs/methods.md, "How kith chooses".
std::optional<Plan> tuned_plan(const DeviceInfo& device, const Problem& problem, const SearchOptions& options,
                               std::string& why_not);

}  // namespace kith
