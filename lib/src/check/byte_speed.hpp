// Measures the speed of int8 products on a device; plans choose between int8 and fp16 by it.
#pragma once

#include "device/device_state.hpp"

namespace kith {

/// Returns how many times as fast as fp16 int8 is in a step over all pairs of many rows. Measures it once a
/// device, on the first call; 0 if the device has no such steps or too little memory. Locks the device.
/// Throws device_failure.
double byte_speed(Device::State& state);

/// Returns what byte_speed() measured; 0 if it was not called. Locks the device.
double known_byte_speed(Device::State& state);

}  // namespace kith
