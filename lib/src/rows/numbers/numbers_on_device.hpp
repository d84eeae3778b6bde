// The numbers of rows, in device memory.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device_state.hpp"

namespace kith {

/// Keeps row numbers on the device. The first search that leaves its answers there copies them; copies of an
/// Index share them.
class NumbersOnDevice {
 public:
  explicit NumbersOnDevice(const DeviceInfo& info) : mutex_(info) {}

  /// Returns [places] numbers on the device. They replace those of an earlier call. Locks the device.
  /// Throws out_of_memory.
  std::shared_ptr<const DeviceMemory> of(const std::shared_ptr<Device::State>& state,
                                         const std::shared_ptr<const std::vector<std::int64_t>>& numbers) {
    const std::lock_guard lock(mutex_);
    if (numbers != numbers_) {
      memory_ = std::make_shared<const DeviceMemory>(uploaded(state, *numbers));
      numbers_ = numbers;
    }
    return memory_;
  }

  /// Returns the number of bytes on the device.
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return memory_ ? memory_->get()->bytes : 0;
  }

 private:
  DeviceMutex mutex_;
  std::shared_ptr<const std::vector<std::int64_t>> numbers_;  ///< the numbers that memory_ contains
  std::shared_ptr<const DeviceMemory> memory_;
};

}  // namespace kith
