// LandStep and UnitStep, and what they find.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "device/device_state.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Lands rows that are in memory of a device, and gathers what is found of them.
class DeviceLanding {
 public:
  struct Found {
    float largest = 0;           ///< max |element|; of bits 0
    std::uint32_t bad_row = 0;   ///< the first with a NaN or an infinity; no_row: none has
    std::uint32_t zero_row = 0;  ///< of unit rows the first that was all zeros; no_row: none was
  };

  /// Nothing is found yet. Locks the device. Throws out_of_memory.
  ///   where     in messages
  ///   features  the columns that count, ascending; empty: all
  ///   dims      columns of the rows once they are landed
  ///   unit      rows are divided by their norms, which the device does right
  DeviceLanding(std::shared_ptr<Device::State> state, std::string_view where,
                std::span<const std::int64_t> features, std::int64_t dims, bool unit = false);

  /// Enqueue it. Under the lock. Throws unsupported.
  ///   to         how many rows are there is what `from` says
  ///   first_row  the number of row 0 in what is found
  ///   chosen     as in LandStep; a bad row has its number among the caller's then, a row of zeros still that
  ///              from first_row on
  void land(const spi::RawRows& from, const spi::RowBlocks& to, std::int64_t first_row,
            const spi::Grid<std::uint32_t>& chosen = {}) const;
  /// Of all that was landed since it was made, or since forget(). Under the lock, and waits.
  Found found() const;
  /// Under the lock.
  void forget() const;

 private:
  void enqueue(const spi::Step& step) const;

  const std::shared_ptr<Device::State> state_;
  const std::string_view where_;
  const std::size_t dims_;
  DeviceMemory found_, columns_, units_;  ///< columns_ is empty where all count; units_ without unit rows
};

}  // namespace kith
