// Lists the rounds of test products before a proposer is used: they cover all kernels and lengths of lines
// that a plan may use.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/device.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Describes one round: `n` queries of each kind of hard rows, kind after kind, since bounds depend on the
/// longest query of a step.
struct Round {
  std::uint32_t n, dims;
  std::uint32_t at_once;  ///< queries of a step
  bool visits;            ///< in two steps: a block of rows, then the rest
};

/// Returns the rounds for all kernels that a search by this plan may run, also when it asks a few
/// queries again.
std::vector<Round> rounds_of(const Plan& plan, const DeviceInfo& device);

}  // namespace kith
