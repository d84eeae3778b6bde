// Tests that a device computes distances by terms of columns right, in a periodic box or by others, when a
// search first asks for them.
#pragma once

#include <string>

#include "device/device_state.hpp"
#include "kith/metric.hpp"

namespace kith {

/// Says why distances by these terms are not to be trusted on this device; empty if they are. Locks the
/// device, the first time for longer.
std::string test_terms(Device::State& state, Metric metric, Terms kind);

}  // namespace kith
