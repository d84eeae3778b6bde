// Whether a device is exact.
#pragma once

#include <string>

#include "kith/spi.hpp"

namespace kith {

/// Compare a small search on `device` with the chain on the host: fused multiply-add, subnormals,
/// overflow, ties, merging, masked pairs, weighted votes, sums a class, products of many queries. Returns
/// what differs, as a sentence; empty when nothing does. Throws only where memory runs out, which is no
/// verdict: a device that fails to run otherwise has failed the test.
std::string self_test(spi::Device& device);

}  // namespace kith
