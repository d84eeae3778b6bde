// Rows of f16 or bf16 in memory of a device as they are: two bytes a column, one row behind the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "rows/index_state.hpp"
#include "rows/landed/device_landing.hpp"
#include "rows/rows_on_device.hpp"
#include "search/parted/row_room.hpp"

namespace kith {

/// Whether the rows of an Index are to stay as they are: the device lands such rows, and as float32 they are
/// large, or a room for more of them is asked for. Of a set of devices each member decides for its part.
///   reserve  IndexOptions::reserve
bool keeps_halves(const Index::State& index, std::int64_t reserve);

/// Rows and room for more of them, which Index objects share: each has the first so many. What is written
/// does not change.
class HalfStore final : public RowsOnDevice {
 public:
  /// Locks the device. Throws out_of_memory.
  ///   like  an Index of such rows: device, columns and element
  ///   room  rows that may be put here
  HalfStore(const Index::State& like, std::int64_t room);
  /// The first `rows` rows of another, claimed, and room for `more` behind them. Memory is shared where rows
  /// fill blocks; the few behind these are copied.
  HalfStore(const Index::State& like, const HalfStore& before, std::int64_t rows, std::int64_t more);

  /// As those of RowRoom.
  bool claim(std::int64_t first, std::int64_t count) { return room_.claim(first, count); }
  void give_back(std::int64_t first, std::int64_t count) { room_.give_back(first, count); }
  bool has_room_behind(std::int64_t rows) const { return room_.has_room_behind(rows); }

  /// Rows into these places, which are claimed. Locks the device.
  ///   from  [count, dims] of the element, one behind the other
  void write(std::int64_t first, std::int64_t count, const unsigned char* from);
  /// Enqueued. `first` is a multiple of spi::quantized_block_rows.
  void land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const override;
  /// What is wrong with these rows, and how large they are, into what `landing` finds. Locks the device.
  ///   number  of the first of them, in what is found
  ///   to      room for so many rows as RowBlocks, which hold nothing of use then
  void look_at(std::int64_t first, std::int64_t count, std::int64_t number, const DeviceLanding& landing,
               const spi::Allocation& to) const;

  std::int64_t row_bytes() const { return row_bytes_; }
  /// Of device memory, shared or not.
  std::size_t bytes() const;

 private:
  /// Rows whose memory lies in one block. The first row is a multiple of spi::quantized_block_rows.
  struct Part {
    std::shared_ptr<DeviceMemory> memory;
    std::int64_t first = 0, rows = 0;
  };

  void add_parts(std::int64_t first, std::int64_t end);
  void copy_behind(const HalfStore& before, std::int64_t first, std::int64_t count);
  spi::RawRows raw(const Part& part, std::int64_t row, std::int64_t count) const;
  /// act(part, its row, row of the stretch, rows) for each part that a stretch lies in.
  template <class Act>
  void for_each_part(std::int64_t first, std::int64_t count, const Act& act) const;

  const Device device_;
  const Element element_;
  const std::int64_t dims_, row_bytes_;
  const DeviceLanding landing_;
  std::vector<Part> parts_;
  RowRoom room_;
};

}  // namespace kith
