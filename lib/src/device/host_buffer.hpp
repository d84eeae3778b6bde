// Host memory for what goes to a device and comes back, kept for the next search.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "device/device_state.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Not initialised. Locked in place where that helps the device and the system has such memory, so that
/// copies need no detour; the same bytes arrive either way. May lock the device in its constructor
/// and destructor.
class HostBuffer {
 public:
  /// `state` outlives it. Throws std::bad_alloc.
  HostBuffer(Device::State& state, std::size_t bytes);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  /// The first `count` elements of it.
  template <class T>
  std::span<T> as(std::size_t count) const {
    return {static_cast<T*>(memory_->data), count};
  }

 private:
  Device::State& state_;
  std::unique_ptr<spi::HostMemory> memory_;
};

}  // namespace kith
