// Host memory for what goes to a device and comes back, kept for the next search.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "device/device_state.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Who reads memory of the host next. What a device reads should not lie in the caches of the cores that
/// wrote it: it waits longer for what it finds there.
enum class Reader { core, device };

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
  /// The device, where the memory is locked; else a core, which copies it.
  Reader reader() const { return locked_ ? Reader::device : Reader::core; }

 private:
  Device::State& state_;
  std::unique_ptr<spi::HostMemory> memory_;
  bool locked_ = false;
};

}  // namespace kith
