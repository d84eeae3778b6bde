// Whether a device is exact.
#pragma once

#include <string>

#include "kith/device.hpp"
#include "kith/selector.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Compare a small search on `device` with the chain on the host: fused multiply-add, subnormals,
/// overflow, ties, merging, masked pairs, weighted votes, sums a class, products of many queries. Returns
/// what differs, as a sentence; empty when nothing does. Throws only where memory runs out, which is no
/// verdict: a device that fails to run otherwise has failed the test.
std::string self_test(spi::Device& device);

/// Whether `selector` selects what it must on this device, with lists of `k` or the most that a test has:
/// tested when first asked for, and remembered. Returns what is wrong, as a sentence; empty when nothing is.
/// Locks the device; throws what the device throws.
std::string test_selector(Device::State& state, Selector selector, std::int64_t k);

}  // namespace kith
