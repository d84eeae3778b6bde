// Rows that are copied to a device unchanged, and are checked, converted and packed there.
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
#include "rows/landed/byte_grid.hpp"
#include "rows/landed/device_landing.hpp"
#include "rows/rows.hpp"

namespace kith {

/// How rows are landed; the fields are arguments of prepare_rows(). Unit rows only if the device computes
/// them correctly.
struct Landing {
  std::string_view where, what;  ///< used in messages
  Metric metric;
  std::span<const std::int64_t> features;  ///< the columns that count, ascending; empty: all
  std::int64_t first_row = 0;              ///< the number of row 0 in messages
};

/// Refuses a row that is not finite. The host checks it again to word the message.
///   one  the row, on the host
///   row  its number among the landed rows
[[noreturn]] void refuse_landed_row(const Device::State& state, const RowsView& one, std::int64_t row,
                                    const Landing& how);

/// Copies rows of the host, unchanged, into contiguous memory.
///   features  the columns to copy, ascending; empty: all
void copy_side_by_side(const RowsView& rows, std::span<const std::int64_t> features,
                       std::span<unsigned char> to);

/// Rows that are being landed on a device. The caller's memory is borrowed during the lifetime of
/// this object.
class RowsToLand {
 public:
  ///   order  the order of rows of the device, from order_of_ids(); empty: as they are given
  /// Throws as check_layout(), check_element() and spi::Device::borrow() do.
  RowsToLand(std::shared_ptr<Device::State> state, const RowsView& rows, const Landing& how,
             std::span<const std::int64_t> order = {});

  /// Returns the rows in chunks, like upload_chunks(); they are training rows `first`, first + 1, ... Throws
  /// out_of_memory; invalid_argument, with the message of prepare_rows(): a NaN or infinity.
  std::vector<Chunk> chunks(std::int64_t first);
  /// Lands rows first ... first + count - 1, from the beginning of `to` on. check() must be called after the
  /// last piece.
  void land_some(std::int64_t first, std::int64_t count, const DeviceMemory& to) const;
  /// Throws invalid_argument: a landed row has a NaN or infinity, or is all zeros and should become a
  /// unit row.
  void check();
  /// Returns max |element| of the landed rows, once they are checked; 0 for bits.
  float largest() const { return largest_; }
  /// Returns every `step`-th row from row 0 on, landed. The rows must be checked.
  Floats sample(std::int64_t step) const;
  /// Returns the same rows in the caller's memory, on the host, if they land without any change; else
  /// nothing.
  std::optional<MatrixView<const float>> sample_in_place(std::int64_t step) const;

  /// Lands `count` rows from `first` on, `step` apart, as RowBlocks of `block` from the beginning of `to` on.
  /// Does not report values that are not finite. Locks the device. This function and the following are for
  /// rows on the device.
  void land_part(std::int64_t first, std::int64_t count, spi::Allocation& to, std::uint32_t block,
                 std::int64_t step = 1) const;
  /// Lands the rows with these numbers; they should be few.
  void land_chosen(const std::vector<std::uint32_t>& numbers, spi::Allocation& to, std::uint32_t block) const;
  /// Returns landed rows on the host, row-major.
  Floats read_landed(std::int64_t first, std::int64_t count, std::int64_t step) const;
  /// Checks all rows on the device, and compares them to a grid, if it is of floats. Throws as check() does.
  void look(const ByteGrid& grid);
  /// Returns whether all rows are on the grid, if that is known without a look at them.
  std::optional<bool> all_on(const ByteGrid& grid) const;
  /// Returns the rows as they are given, and their values as they are searched. The first call copies them to
  /// the host. Only one thread may call these at a time.
  const RowsView& given() const;
  MatrixView<const float> values() const;

  Element element() const { return rows_.element; }
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
  std::optional<BorrowedRows> borrowed_;  ///< only for rows on the device
  std::optional<DeviceLanding> landing_;
  float largest_ = 0;
  ByteGrid asked_;  ///< the grid of floats that look() got
  bool off_grid_ = false;
  mutable std::vector<unsigned char> copy_;     ///< a copy, on the host, of rows on the device
  mutable std::optional<RowsView> given_;       ///< a view of copy_
  mutable std::optional<PreparedRows> values_;  ///< prepared rows on the host
};

}  // namespace kith
