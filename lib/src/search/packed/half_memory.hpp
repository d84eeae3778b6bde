// Keeps rows of f16 or bf16 in memory of a device as they are: two bytes per column, without gaps
// between rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rows/landed/device_landing.hpp"
#include "search/packed/packed_memory.hpp"

namespace kith {

/// Returns whether rows stay as halves: the device can land them, and they would be large as float32, or room
/// for more rows is asked for.
///   reserve  IndexOptions::reserve
bool keeps_halves(const RowSchema& schema, std::int64_t rows, std::int64_t reserve);

class HalfMemory final : public PackedMemory {
 public:
  /// Locks the device. Throws out_of_memory.
  ///   room  number of places for rows
  HalfMemory(const RowSchema& schema, std::int64_t room);
  /// Takes the first `rows` rows of another store, and claims places for `more` behind them. Full blocks of
  /// rows are shared; the few rows behind these are copied.
  HalfMemory(const HalfMemory& before, std::int64_t rows, std::int64_t more);

  bool takes_from(Where where) const override { return where == Where::host; }
  /// The prepared rows of an Index that keeps one element have only its values, so they always fit.
  bool holds(MatrixView<const float>, std::uint32_t) const override { return true; }
  /// Puts rows, which the device checks.
  float put(std::int64_t first, const RowsView& rows, const Landing& how) override;
  void put(std::int64_t first, MatrixView<const float> rows, std::uint32_t threads) override;
  std::shared_ptr<PackedMemory> with_room(std::int64_t rows, std::int64_t more) const override;
  std::shared_ptr<const ResidentRows> exact_rows(std::int64_t, float) const override { return nullptr; }
  std::size_t bytes() const override;
  /// Enqueues the step. `first` is a multiple of spi::quantized_block_rows.
  void land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const override;

 private:
  /// Holds a block of memory with rows. The first row is a multiple of spi::quantized_block_rows.
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
  /// Calls act(part, first row in the part, first row in the range, rows) for each part that the
  /// range overlaps.
  template <class Act>
  void for_each_part(std::int64_t first, std::int64_t count, const Act& act) const;

  const RowSchema schema_;
  const std::int64_t row_bytes_;
  const DeviceLanding landing_;
  std::vector<Part> parts_;
};

}  // namespace kith
