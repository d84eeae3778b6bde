// Training rows in memory of a device that are not RowBlocks of floats there.
#pragma once

#include <cstdint>

#include "kith/spi.hpp"

namespace kith {

class RowsOnDevice {
 public:
  RowsOnDevice() = default;
  virtual ~RowsOnDevice() = default;
  RowsOnDevice(const RowsOnDevice&) = delete;
  RowsOnDevice& operator=(const RowsOnDevice&) = delete;

  /// Rows by their places as RowBlocks of floats, from the beginning of `to`. Locks the device.
  ///   first  a multiple of spi::quantized_block_rows
  virtual void land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const = 0;
};

}  // namespace kith
