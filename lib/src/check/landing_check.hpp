// Tests that a device converts rows (LandStep) and finishes distances (FinishStep) right.
#pragma once

#include <string>

#include "kith/rows_view.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Lets the device convert a few hard rows and finish hard values. Says why it is not exact; empty if it is.
/// Throws Error.
std::string landing_check(spi::Device& device);

/// Tests rows of one element alone, and no distances: for devices and elements that were not tested when the
/// device was opened.
std::string landing_check(spi::Device& device, Element element);

}  // namespace kith
