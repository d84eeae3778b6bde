// What a device proves before rows are landed on it, and answers made.
#pragma once

#include <string>

#include "kith/rows_view.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Land a few hard rows, and make distances of hard values. Returns why the device is not exact; empty when
/// it is. Throws Error.
std::string landing_check(spi::Device& device);

/// The same of rows of one element alone, and of no distances: for devices that rows are landed on although
/// they were not checked when they were opened, and elements that were not.
std::string landing_check(spi::Device& device, Element element);

}  // namespace kith
