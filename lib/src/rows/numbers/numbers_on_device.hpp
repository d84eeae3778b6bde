// The numbers of rows in memory of a device.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "device/device_state.hpp"

namespace kith {

/// Copied there by the first search that leaves its answers on the device. Copies of an Index share it.
class NumbersOnDevice {
 public:
  explicit NumbersOnDevice(const DeviceInfo& info) : mutex_(info) {}

  /// [places]  numbers, which replace those that were asked for before. Locks the device.
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

  /// Of the device.
  std::size_t bytes() {
    const std::lock_guard lock(mutex_);
    return memory_ ? memory_->get()->bytes : 0;
  }

 private:
  DeviceMutex mutex_;
  std::shared_ptr<const std::vector<std::int64_t>> numbers_;  ///< that memory_ is a copy of
  std::shared_ptr<const DeviceMemory> memory_;
};

}  // namespace kith
