// What is multiplied before a proposer is used: by all kernels and for lines of all lengths that a plan may
// use.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/device.hpp"
#include "kith/plan.hpp"

namespace kith {

/// What is multiplied by which kernels of a proposer: `n` queries of each kind of hard rows, a kind after
/// another, since bounds are those of the longest query of a step.
struct Round {
  std::uint32_t n, dims;
  std::uint32_t at_once;  ///< queries of a step
  bool visits;            ///< in two steps: a block of rows, then the rest
};

/// What a search by this plan may run, the few queries that are asked again included.
std::vector<Round> rounds_of(const Plan& plan, const DeviceInfo& device);

}  // namespace kith
