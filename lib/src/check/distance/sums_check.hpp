// Tests that a device computes metrics of two sums right, when a search first asks for them.
#pragma once

#include <string>

#include "device/device_state.hpp"
#include "kith/metric.hpp"

namespace kith {

/// Says why distances by a metric of two sums are not to be trusted on this device; empty if they are. Locks
/// the device, the first time for longer.
std::string test_sums(Device::State& state, Metric metric);

}  // namespace kith
