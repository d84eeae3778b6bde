// Tests whether a selector of a device is exact.
#pragma once

#include <cstdint>
#include <string>

#include "device/device_state.hpp"
#include "kith/selector.hpp"

namespace kith {

/// Tests `selector` on this device with lists of `k`, at most 64, on the first call, and remembers the
/// result. Says what is wrong; empty if nothing is. Locks the device; throws what the device throws.
std::string test_selector(Device::State& state, Selector selector, std::int64_t k);

}  // namespace kith
