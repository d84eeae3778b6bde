// A device of a plug-in, of which the library believes only what spi.hpp promises.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "kith/spi.hpp"

namespace kith {

/// What `open` returns, as a device that throws kith::Error and std::bad_alloc alone: whatever else the back
/// end throws, here or from the device's calls, is Error device_failure.
///   spec  of the device, for messages
std::unique_ptr<spi::Device> open_guarded(const std::string& spec,
                                          const std::function<std::unique_ptr<spi::Device>()>& open);

}  // namespace kith
