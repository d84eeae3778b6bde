// A device of a plug-in, of which the library believes only what spi.hpp promises.
#pragma once

#include <memory>

#include "kith/spi.hpp"

namespace kith {

/// A device that throws kith::Error and std::bad_alloc alone: whatever else the back end throws from its
/// calls is Error device_failure.
std::unique_ptr<spi::Device> guarded(std::unique_ptr<spi::Device> device);

}  // namespace kith
