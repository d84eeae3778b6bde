// Tests that a device finds the right rows by boxes, when a search first uses them.
#pragma once

#include <string>

#include "device/device_state.hpp"
#include "kith/metric.hpp"

namespace kith {

/// Says why boxes on this device are not to be trusted for this metric; empty if they are. Locks the device,
/// the first time for longer.
///   kind  what chains take in each column
std::string test_boxes(Device::State& state, Metric metric, Terms kind);

}  // namespace kith
