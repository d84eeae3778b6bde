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
#include "rows/rows.hpp"

namespace kith {

/// How rows are landed: as prepare_rows() takes them. Unit rows only where the device makes them right.
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
  ///   order  in which rows of the device are put, as order_of_ids() has it; empty: as they come
  /// Throws as check_layout(), check_element() and spi::Device::borrow() do.
  RowsToLand(std::shared_ptr<Device::State> state, const RowsView& rows, const Landing& how,
             std::span<const std::int64_t> order = {});

  /// The rows in chunks, as upload_chunks() makes them, training rows `first`, first + 1, ...
  /// Throws out_of_memory; invalid_argument, with the words of prepare_rows(): a NaN or infinity.
  std::vector<Chunk> chunks(std::int64_t first);
  /// The same piece by piece: rows first ... first + count - 1 from the beginning of `to`. check() comes
  /// behind the last.
  void land_some(std::int64_t first, std::int64_t count, const DeviceMemory& to) const;
  /// Throws invalid_argument: what was landed holds a NaN or infinity, or a row of zeros that is to be a unit
  /// row.
  void check();
  /// max |element| of what was landed, once it is checked; 0 of bits.
  float largest() const { return largest_; }
  /// Every `step`-th row from row 0 on, landed. Of rows that were checked.
  Floats sample(std::int64_t step) const;

  /// Of rows on the device, as the following: `count` of them, each `step` behind the one before, from
  /// `first` on, landed as RowBlocks of `block` from the beginning of `to`. Nobody is told of values that are
  /// not finite. Locks the device.
  void land_part(std::int64_t first, std::int64_t count, spi::Allocation& to, std::uint32_t block,
                 std::int64_t step = 1) const;
  /// The same of the rows with these numbers, of which there are few.
  void land_chosen(const std::vector<std::uint32_t>& numbers, spi::Allocation& to, std::uint32_t block) const;
  /// The same on the host, row-major.
  Floats read_landed(std::int64_t first, std::int64_t count, std::int64_t step) const;
  /// All rows are looked at there. Throws as check() does.
  void look();
  /// The rows as they are, and their values as they are searched: the first who asks brings them to the host.
  /// One thread at a time.
  const RowsView& given() const;
  MatrixView<const float> values() const;

  std::int64_t rows() const { return rows_.rows; }
  std::int64_t dims() const { return dims_; }

 private:
  spi::RowBlocks blocks_at(const spi::Allocation& memory, std::int64_t first, std::uint32_t block) const;
  void land_in_order(const std::vector<std::uint32_t>& numbers, std::int64_t first, spi::Allocation& to,
                     std::uint32_t block) const;
  template <class Land>
  Floats read_blocks(std::int64_t count, const Land& land) const;
  void land_from_host(const DeviceMemory& to, std::int64_t first, std::int64_t count) const;
  [[noreturn]] void refuse_row(std::int64_t row) const;

  const std::shared_ptr<Device::State> state_;
  const RowsView rows_;
  const Landing how_;
  const std::span<const std::int64_t> order_;
  const std::int64_t dims_;
  std::optional<BorrowedRows> borrowed_;  ///< of rows on the device
  std::optional<DeviceLanding> landing_;
  float largest_ = 0;
  mutable std::vector<unsigned char> copy_;     ///< of rows on the device
  mutable std::optional<RowsView> given_;       ///< that refers to it
  mutable std::optional<PreparedRows> values_;  ///< on the host
};

}  // namespace kith
