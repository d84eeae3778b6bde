// Tests that a device computes chains in double precision (DoubleChainsStep) right, when it is first asked
// to.
#pragma once

#include <string>

#include "device/device_state.hpp"

namespace kith {

/// Says how chains in double precision of this device differ from docs/contract.md, section 1, or why it
/// computes none; empty if they are right. Locks the device, the first time for longer.
std::string test_double_chains(Device::State& state);

}  // namespace kith
