// Whether a device finds by boxes what it must: asked when a search first goes by them.
#pragma once

#include <string>

#include "device/device_state.hpp"
#include "kith/metric.hpp"

namespace kith {

/// Why a device's step `boxes` is not to be trusted by this metric; empty when it is. Locks the device, at
/// the first time for a while.
std::string test_boxes(Device::State& state, Metric metric);

}  // namespace kith
