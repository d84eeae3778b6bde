// Whether a selector of a device is exact.
#pragma once

#include <cstdint>
#include <string>

#include "device/device_state.hpp"
#include "kith/selector.hpp"

namespace kith {

/// Whether `selector` selects what it must on this device, with lists of `k` or the most that a test has:
/// tested when first asked for, and remembered. Returns what is wrong, as a sentence; empty when nothing is.
/// Locks the device; throws what the device throws.
std::string test_selector(Device::State& state, Selector selector, std::int64_t k);

}  // namespace kith
