// Tests that a device computes distances in a periodic box right, when a search first asks for them.
#pragma once

#include <string>

#include "device/device_state.hpp"
#include "kith/metric.hpp"

namespace kith {

/// Says why distances in a periodic box are not to be trusted on this device; empty if they are. Locks the
/// device, the first time for longer.
std::string test_periodic(Device::State& state, Metric metric);

}  // namespace kith
