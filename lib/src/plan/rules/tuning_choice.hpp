// How a plan follows what was measured.
#pragma once

#include <optional>
#include <string>

#include "kith/plan.hpp"

namespace kith {

/// The plan by DeviceInfo::tuning; nothing when that is null, when the caller has fixed the way, when
/// nothing near enough was measured, or when what was measured cannot be had for this problem.
///   why_not  out: of the last two, which, as in "built-in rule, as nothing like it was measured"
/// A pure function. docs/methods.md, "How kith chooses".
std::optional<Plan> tuned_plan(const DeviceInfo& device, const Problem& problem, const PlanOptions& options,
                               std::string& why_not);

}  // namespace kith
