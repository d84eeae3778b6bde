// Rows of bytes in memory of a device, a byte a column: quantized rows of proposer int8 are the rows
// themselves where these are of bytes. docs/certificate.md, section 4.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "certified/quantized_rows.hpp"
#include "rows/index_state.hpp"
#include "rows/rows_on_device.hpp"
#include "search/parted/row_room.hpp"

namespace kith {

/// Whether rows of an element may stay as bytes: every chain of two such rows is exact, and the device keeps
/// and recovers them.
bool stays_in_bytes(const DeviceInfo& device, Metric metric, Element element, std::int64_t dims);

/// Whether the rows of an Index are to stay as bytes: where that is asked for by a room for more of them, or
/// where floats would take so much more that they are worth being made only by searches that need them. Rows
/// of few columns go by boxes, which are floats. Of a set of devices each member decides for its part.
///   reserve  IndexOptions::reserve
bool keeps_bytes(const Index::State& index, std::int64_t reserve);

/// Rows and room for more of them, which Index objects share: each has the first so many. What is filled does
/// not change.
class ByteStore final : public RowsOnDevice {
 public:
  /// Locks the device. Throws out_of_memory; unsupported: the device cannot recover rows.
  ///   like  an Index of such rows: device, metric, columns and element
  ///   room  rows that may be put here
  ByteStore(const Index::State& like, std::int64_t room);

  /// RowRoom::claim()
  bool claim(std::int64_t first, std::int64_t count) { return room_.claim(first, count); }
  /// Rows into these places, which are quantized once it returns. Locks the device.
  ///   first  a multiple of spi::quantized_block_rows
  ///   from   RowBlocks of the device's train_block, from the beginning
  void put(std::int64_t first, std::int64_t count, const spi::Allocation& from);
  /// Enqueued. `first` is a multiple of spi::quantized_block_rows.
  void land(std::int64_t first, std::int64_t count, const spi::Allocation& to) const override;

  /// The first `rows` rows as an Index of them has its chunks, which are without memory.
  std::vector<Chunk> chunks(std::int64_t rows) const;
  const std::shared_ptr<const IndexQuantizedRows>& quantized() const { return read_; }
  std::size_t bytes() const { return read_->bytes(); }

 private:
  /// act(part, its row, row of the stretch, rows) for each part that a stretch lies in.
  template <class Act>
  void for_each_part(std::int64_t first, std::int64_t count, const Act& act) const;

  const Device device_;
  const std::int64_t a_part_, dims_;
  std::shared_ptr<IndexQuantizedRows> quantized_;
  std::shared_ptr<const IndexQuantizedRows> read_;  ///< the same
  RowRoom room_;
};

}  // namespace kith
