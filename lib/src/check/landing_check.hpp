// What a device proves before rows are landed on it, and answers made.
#pragma once

#include <string>

#include "kith/spi.hpp"

namespace kith {

/// Land a few hard rows, and make distances of hard values. Returns why the device is not exact; empty when
/// it is. Throws Error.
std::string landing_check(spi::Device& device);

}  // namespace kith
