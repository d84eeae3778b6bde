// Host memory for copies to and from a device, kept for the next search.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "device/device_state.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Who reads host memory next. Memory that a device reads should not be in the caches of the cores that wrote
/// it, because the device would wait longer.
enum class Reader { core, device };

/// Uninitialised host memory. It is locked if that helps the device and the system can do it, so that copies
/// need no staging; the bytes that arrive are the same. Its constructor and destructor may lock the device.
class HostBuffer {
 public:
  /// `state` must live longer than this object. Throws std::bad_alloc.
  HostBuffer(Device::State& state, std::size_t bytes);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  /// Returns the first `count` elements.
  template <class T>
  std::span<T> as(std::size_t count) const {
    return {static_cast<T*>(memory_->data), count};
  }
  /// Returns `device` if the memory is locked; else `core`, because a core then copies it.
  Reader reader() const { return locked_ ? Reader::device : Reader::core; }

 private:
  Device::State& state_;
  std::unique_ptr<spi::HostMemory> memory_;
  bool locked_ = false;
};

/// Host memory that a device may still be copying from. Its destructor waits for the device.
class PendingUpload {
 public:
  explicit PendingUpload(std::shared_ptr<Device::State> state) : state_(std::move(state)) {}
  ~PendingUpload() { settle(); }
  PendingUpload(const PendingUpload&) = delete;
  PendingUpload& operator=(const PendingUpload&) = delete;

  void hold(std::unique_ptr<HostBuffer> buffer) { buffer_ = std::move(buffer); }
  std::unique_ptr<HostBuffer> take() { return std::move(buffer_); }
  /// Lets the memory go after the device has been waited for.
  void let_go() { buffer_ = nullptr; }
  /// Waits for the device, and lets the memory go.
  void settle() noexcept;

 private:
  const std::shared_ptr<Device::State> state_;
  std::unique_ptr<HostBuffer> buffer_;
};

}  // namespace kith
