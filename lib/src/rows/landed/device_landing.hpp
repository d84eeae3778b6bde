// Runs LandStep and UnitStep, and collects their findings.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "device/device_state.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Lands rows that are in device memory, and collects what the steps find in them.
class DeviceLanding {
 public:
  struct Found {
    float largest = 0;           ///< max |element|; 0 for bits
    std::uint32_t bad_row = 0;   ///< the first row with a NaN or an infinity; no_row: there is none
    std::uint32_t zero_row = 0;  ///< the first unit row that was all zeros; no_row: there is none
    bool off_grid = false;       ///< a value is not on the grid that land() got
  };

  /// Begins without findings. Locks the device. Throws out_of_memory.
  ///   where     beginning of messages
  ///   features  the columns that count, ascending; empty: all
  ///   dims      number of columns of landed rows
  ///   unit      rows are divided by their norms, which the device does correctly
  DeviceLanding(std::shared_ptr<Device::State> state, std::string_view where,
                std::span<const std::int64_t> features, std::int64_t dims, bool unit = false);

  /// Enqueues the steps. The caller holds the lock. Throws unsupported.
  ///   to         `from` tells the number of rows
  ///   first_row  the number of row 0 in the findings
  ///   chosen     as in LandStep; a bad row then has its number among the caller's rows, but a row of zeros
  ///              the number counted from first_row
  ///   grid       of floats, to which values are compared
  void land(const spi::RawRows& from, const spi::RowBlocks& to, std::int64_t first_row,
            const spi::Grid<std::uint32_t>& chosen = {}, const spi::FloatGrid& grid = {}) const;
  /// Waits, and returns the findings for all rows landed since construction or forget(). The caller holds
  /// the lock.
  Found found() const;
  /// Discards the findings. The caller holds the lock.
  void forget() const;

 private:
  void enqueue(const spi::Step& step) const;

  const std::shared_ptr<Device::State> state_;
  const std::string_view where_;
  const std::size_t dims_;
  DeviceMemory found_, columns_, units_;  ///< columns_ is empty if all count; units_ without unit rows
};

}  // namespace kith
