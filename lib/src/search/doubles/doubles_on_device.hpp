// Rows in double precision, in memory of a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "device/device_state.hpp"
#include "rows/doubles/prepared_doubles.hpp"

namespace kith {

/// A copy of some rows on the device of an Index. The first search that needs it makes it.
class DoublesOnDevice {
 public:
  struct Part {
    std::int64_t first, rows;  ///< counted from the first of these rows
    DeviceMemory memory;
  };

  explicit DoublesOnDevice(const DeviceInfo& info) : mutex_(info) {}

  /// Returns all rows, in as many blocks of memory as the device needs for them. Locks the device.
  ///   rows  the same in each call
  /// Throws out_of_memory.
  const std::vector<Part>& of(const std::shared_ptr<Device::State>& state, const PreparedDoubles& rows);

  /// Returns the number of bytes on the device.
  std::size_t bytes();

 private:
  DeviceMutex mutex_;
  std::vector<Part> parts_;  ///< empty before they are made; then they never change
};

}  // namespace kith
