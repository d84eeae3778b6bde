// Training rows in device memory that are not stored as RowBlocks of floats.
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

  /// Writes rows, given by their places, as RowBlocks of floats from the beginning of `to` on. Locks
  /// the device.
  ///   first  a multiple of spi::quantized_block_rows
  virtual void land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const = 0;
};

}  // namespace kith
