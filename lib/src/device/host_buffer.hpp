// Host memory for copies to and from a device, kept for the next search.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "device/device_state.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Says who reads memory of the host next. What a device reads should not lie in the caches of the cores that
/// wrote it, since it must wait longer for that.
enum class Reader { core, device };

/// Uninitialised host memory. Locked if that helps the device and the system can do it, so that copies need
/// no staging; the same bytes arrive either way. Its constructor and destructor may lock the device.
class HostBuffer {
 public:
  /// `state` must outlive it. Throws std::bad_alloc.
  HostBuffer(Device::State& state, std::size_t bytes);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  /// Returns the first `count` elements.
  template <class T>
  std::span<T> as(std::size_t count) const {
    return {static_cast<T*>(memory_->data), count};
  }
  /// Returns `device` if the memory is locked; else `core`, since a core copies it.
  Reader reader() const { return locked_ ? Reader::device : Reader::core; }

 private:
  Device::State& state_;
  std::unique_ptr<spi::HostMemory> memory_;
  bool locked_ = false;
};

}  // namespace kith
