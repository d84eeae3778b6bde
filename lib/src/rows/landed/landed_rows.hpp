// Rows that go to a device as they are, and are checked, converted and packed there.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/floats.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "rows/chunks.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landed/device_landing.hpp"

namespace kith {

/// How rows are landed: as prepare_rows() takes them. A metric of unit rows is not landed.
struct Landing {
  std::string_view where, what;  ///< in messages
  Metric metric;
  std::span<const std::int64_t> features;  ///< the columns that count, ascending; empty: all
  std::int64_t first_row = 0;              ///< the number of row 0 in messages
};

/// Refuse a row that is not finite: it is looked at once more on the host, which has the words.
///   one  the row, on the host
///   row  its number among those that were landed
[[noreturn]] void refuse_landed_row(const Device::State& state, const RowsView& one, std::int64_t row,
                                    const Landing& how);

/// Rows of the host, as they are, one behind the other.
///   features  the columns that are meant, ascending; empty: all
void copy_side_by_side(const RowsView& rows, std::span<const std::int64_t> features,
                       std::span<unsigned char> to);

/// Rows on their way to a device. The caller's memory is borrowed while this lives.
class RowsToLand {
 public:
  /// Throws as check_layout(), check_element() and spi::Device::borrow() do.
  RowsToLand(std::shared_ptr<Device::State> state, const RowsView& rows, const Landing& how);

  /// The rows in chunks, as upload_chunks() makes them, training rows `first`, first + 1, ...
  /// Throws out_of_memory; invalid_argument, with the words of prepare_rows(): a NaN or infinity.
  std::vector<Chunk> chunks(std::int64_t first);
  /// The same piece by piece: rows first ... first + count - 1 from the beginning of `to`. check() comes
  /// behind the last.
  void land_some(std::int64_t first, std::int64_t count, const DeviceMemory& to) const;
  /// Throws invalid_argument: what was landed holds a NaN or infinity.
  void check();
  /// max |element| of what was landed, once it is checked; 0 of bits.
  float largest() const { return largest_; }
  /// Every `step`-th row from row 0 on, landed. Of rows that were checked.
  Floats sample(std::int64_t step) const;

  /// Of rows on the device: `count` of them from `first` on, landed as RowBlocks of `block` from the
  /// beginning of `to`. Nobody is told of values that are not finite. Locks the device.
  void land_part(std::int64_t first, std::int64_t count, spi::Allocation& to, std::uint32_t block) const;
  /// The rows, or a copy of them on the host, as they are.
  ///   to  is what the view of a copy refers to
  RowsView on_host(std::vector<unsigned char>& to) const;

  std::int64_t dims() const { return dims_; }

 private:
  spi::RowBlocks blocks_at(const spi::Allocation& memory, std::int64_t first, std::uint32_t block) const;
  void land_from_host(const DeviceMemory& to, std::int64_t first, std::int64_t count) const;
  [[noreturn]] void refuse_row(std::int64_t row) const;

  const std::shared_ptr<Device::State> state_;
  const RowsView rows_;
  const Landing how_;
  const std::int64_t dims_;
  std::optional<BorrowedRows> borrowed_;  ///< of rows on the device
  std::optional<DeviceLanding> landing_;
  float largest_ = 0;
};

}  // namespace kith
