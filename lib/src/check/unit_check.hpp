// Tests that a device divides rows by their norms (UnitStep) right, when it is first asked to.
#pragma once

#include <string>

#include "device/device_state.hpp"
#include "kith/metric.hpp"

namespace kith {

/// Says why unit rows of this device are not those of docs/contract.md, section 1, or that it makes none;
/// empty: they are. Locks the device, the first time for longer.
std::string test_unit_rows(Device::State& state);

/// Whether the device makes of landed rows what the metric compares. Locks the device.
bool prepares_on_device(Device::State& state, Metric metric);

}  // namespace kith
