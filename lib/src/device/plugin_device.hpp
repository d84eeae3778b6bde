// Guards against devices of plug-ins that throw what spi.hpp does not allow.
#pragma once

#include <memory>

#include "kith/spi.hpp"

namespace kith {

/// Wraps a device so that it throws only kith::Error and std::bad_alloc: any other exception of its back end
/// becomes Error device_failure.
std::unique_ptr<spi::Device> guarded(std::unique_ptr<spi::Device> device);

}  // namespace kith
