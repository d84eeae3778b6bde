// Tests whether the proposers of a device keep within their bounds. docs/certificate.md, section 6.
#pragma once

#include <string>

#include "device/device_state.hpp"
#include "kith/unstable/plan.hpp"

namespace kith {

/// Says why the proposer of a plan cannot be used on an open device; empty if it can. Asks its check(), then
/// lets the kernels that the plan may use work on hard values: they must list every row within its limit, and
/// none beyond the bound. Locks the device.
std::string test_proposer(Device::State& state, const Plan& plan);

/// Describes in words what test_proposer() does on this device.
std::string proposer_check(const Plan& plan, const DeviceInfo& device);

}  // namespace kith
