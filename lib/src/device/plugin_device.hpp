// Guards against devices of plug-ins that throw what spi.hpp does not allow, and counts the bytes that
// they copy.
#pragma once

#include <cstdint>
#include <memory>

#include "kith/spi.hpp"

namespace kith {

/// Wraps a device so that it throws only kith::Error and std::bad_alloc: any other exception of its back end
/// becomes Error device_failure.
std::unique_ptr<spi::Device> guarded(std::unique_ptr<spi::Device> device);

/// Bytes copied between the host and devices.
struct CopiedBytes {
  std::uint64_t to_device = 0, from_device = 0;
};

/// Returns all bytes that were copied since the device was opened; 0 for a device that is not guarded().
CopiedBytes copied_bytes(const spi::Device& device);

}  // namespace kith
