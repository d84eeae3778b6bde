// Sends queries to a device while they are checked, so that they are read once: part by part they are packed
// and looked at, and the device copies a part while the host checks the next. Queries that may be bytes go as
// bytes, which the device lands.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "device/device_state.hpp"
#include "device/host_buffer.hpp"
#include "kith/matrix_view.hpp"
#include "rows/landed/byte_grid.hpp"
#include "rows/landed/device_landing.hpp"

namespace kith {

/// What a proposer asks about queries.
struct QueryLook {
  ByteGrid grid;              ///< are they all on this grid? Asked if it is a grid of floats
  std::vector<float> centre;  ///< [dims]  how far from here are they? Empty: not asked
  std::int64_t stride = 1;    ///< every stride-th query answers the latter
};

class SentQueries {
 public:
  /// Returns null if a device gains nothing: it reads no locked memory, no such memory is left, or the
  /// queries are so few or many that other copies are better.
  ///   rows, dims  of the queries
  ///   as_bytes    they may go as bytes, which take more memory of the device until they are landed
  static std::shared_ptr<SentQueries> of(const std::shared_ptr<Device::State>& state, std::int64_t rows,
                                         std::int64_t dims, QueryLook look, bool as_bytes);

  /// Returns how many rows make a block, and a part, which are whole blocks.
  std::int64_t block() const { return block_; }
  std::int64_t part() const { return part_; }
  /// Packs and looks at `count` rows of `rows`, from a block's first on. Several threads call it, for
  /// different rows.
  void take(MatrixView<const float> rows, std::int64_t first, std::int64_t count);
  /// Sends rows that were taken. Locks the device.
  void send(std::int64_t first, std::int64_t count);
  /// Lands the bytes, after all rows were sent. Returns false if some are no bytes, so that what was sent is
  /// of no use. Locks the device.
  bool land();

  /// Returns whether they are on this device, and their memory was not taken yet.
  bool are_on(const Device::State& state) const { return &state == state_.get() && to_; }
  /// Returns the memory where they are, as RowBlocks, and that from which the device may still be copying.
  DeviceMemory take_memory() { return std::move(to_); }
  std::unique_ptr<HostBuffer> take_buffer() { return upload_.take(); }
  /// Returns whether all are on the grid, and the range around a centre; nothing if that was not asked.
  std::optional<bool> all_on(const ByteGrid& grid) const;
  std::optional<double> range_around(const std::vector<float>& centre) const;

  double seconds = 0;  ///< that it took to check and send them, which their owner measures

 private:
  SentQueries(const std::shared_ptr<Device::State>& state, std::int64_t rows, std::int64_t dims,
              QueryLook look, std::optional<Element> bytes, std::unique_ptr<HostBuffer> from);
  void look_at(MatrixView<const float> rows, std::int64_t first, std::int64_t count);

  const std::shared_ptr<Device::State> state_;
  const QueryLook look_;
  const bool asks_grid_;
  const std::optional<Element> bytes_;  ///< what is sent; nothing: packed floats
  const std::int64_t rows_, dims_, block_, part_;
  DeviceMemory to_, raw_;  ///< raw_: bytes, until they are landed
  std::optional<DeviceLanding> landing_;
  unsigned char* packed_;
  PendingUpload upload_;
  std::atomic<bool> on_grid_{true};
  std::atomic<std::int32_t> range_{0};  ///< bits of a float, which have the order of floats
};

}  // namespace kith
