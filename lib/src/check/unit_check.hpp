// Tests that a device divides rows by their norms (UnitStep) right, when it is first asked to.
#pragma once

#include <string>

#include "device/device_state.hpp"
#include "kith/metric.hpp"

namespace kith {

/// Says how unit rows of this device differ from docs/contract.md, section 1, or that it makes none; empty if
/// they are right. Locks the device, the first time for longer.
std::string test_unit_rows(Device::State& state);

/// Returns whether the device can prepare landed rows as the metric needs them. Locks the device.
bool prepares_on_device(Device::State& state, Metric metric);

}  // namespace kith
