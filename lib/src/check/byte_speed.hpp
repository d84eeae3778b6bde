// How fast the products of int8 are on a device, by which plans choose between bytes and 16-bit floats.
#pragma once

#include "device/device_state.hpp"

namespace kith {

/// How many times as fast a step of int8 goes through all pairs of many rows as one of fp16. Measured when it
/// is first asked for, once a device; 0 where the device does not do such steps, or lacks the memory. Locks
/// the device. Throws device_failure.
double byte_speed(Device::State& state);

}  // namespace kith
