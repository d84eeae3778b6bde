// Rows of f16 or bf16 in memory of a device as they are: two bytes a column, one row behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rows/landed/device_landing.hpp"
#include "search/packed/packed_memory.hpp"

namespace kith {

/// Whether rows are to stay as halves: the device lands such rows, and as float32 they are large, or a room
/// for more of them is asked for.
///   reserve  IndexOptions::reserve
bool keeps_halves(const RowSchema& schema, std::int64_t rows, std::int64_t reserve);

class HalfMemory final : public PackedMemory {
 public:
  /// Locks the device. Throws out_of_memory.
  ///   room  rows that may be put here
  HalfMemory(const RowSchema& schema, std::int64_t room);
  /// The first `rows` rows of another, and claimed places for `more` behind them. Memory is shared where rows
  /// fill blocks; the few behind these are copied.
  HalfMemory(const HalfMemory& before, std::int64_t rows, std::int64_t more);

  bool takes_from(Where where) const override { return where == Where::host; }
  /// Of an Index of one element each value is one.
  bool holds(MatrixView<const float>, std::uint32_t) const override { return true; }
  /// The device checks the rows.
  float put(std::int64_t first, const RowsView& rows, const Landing& how) override;
  void put(std::int64_t first, MatrixView<const float> rows, std::uint32_t threads) override;
  std::shared_ptr<PackedMemory> with_room(std::int64_t rows, std::int64_t more) const override;
  std::shared_ptr<const ResidentRows> exact_rows(std::int64_t, float) const override { return nullptr; }
  std::size_t bytes() const override;
  /// Enqueued. `first` is a multiple of spi::quantized_block_rows.
  void land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const override;

 private:
  /// Rows whose memory lies in one block. The first row is a multiple of spi::quantized_block_rows.
  struct Part {
    std::shared_ptr<DeviceMemory> memory;
    std::int64_t first = 0, rows = 0;
  };

  void add_parts(std::int64_t first, std::int64_t end);
  void copy_behind(const HalfMemory& before, std::int64_t first, std::int64_t count);
  void write(std::int64_t first, std::int64_t count, const unsigned char* from);
  void look_at(std::int64_t first, std::int64_t count, std::int64_t number, const DeviceLanding& landing,
               const spi::Allocation& to) const;
  std::int64_t rows_at_once(std::int64_t rows) const;
  spi::RawRows raw(const Part& part, std::int64_t row, std::int64_t count) const;
  /// act(part, its row, row of the range, rows) for each part that a range lies in.
  template <class Act>
  void for_each_part(std::int64_t first, std::int64_t count, const Act& act) const;

  const RowSchema schema_;
  const std::int64_t row_bytes_;
  const DeviceLanding landing_;
  std::vector<Part> parts_;
};

}  // namespace kith
