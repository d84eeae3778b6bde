// Whether a device's proposers keep within their bounds. docs/certificate.md, section 6.
#pragma once

#include <string>

#include "device/device_state.hpp"
#include "kith/plan.hpp"

namespace kith {

/// Why the proposer of a plan cannot be used on an opened device: what its check() says, or what the kernels
/// that the plan may use make of hard values: every row within its limit must be proposed, and none beyond
/// the bound. Empty when it can. Locks the device.
std::string test_proposer(Device::State& state, const Plan& plan);

/// What test_proposer() does on this device, in words.
std::string proposer_check(const Plan& plan, const DeviceInfo& device);

}  // namespace kith
