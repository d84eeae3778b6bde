// Tests whether a device is exact.
#pragma once

#include <string>

#include "kith/spi.hpp"

namespace kith {

/// Compares small steps on `device` with the plain device on the host: fused multiply-add, subnormals,
/// overflow, ties, merging, masked pairs, weighted votes, sums by class, products of many queries. Says what
/// differs; empty if nothing does. Throws only if memory runs out, which is no verdict; a device that cannot
/// run the test fails it.
std::string self_test(spi::Device& device);

}  // namespace kith
