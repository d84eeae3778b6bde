// The training rows of an Index, in as many blocks of device memory as the device needs.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "device/device_state.hpp"
#include "kith/device.hpp"
#include "kith/matrix_view.hpp"

namespace kith {

/// The most rows of an Index: row numbers have 32 bits, and the last one means "none".
inline constexpr std::int64_t most_rows = 0xFFFFFFFEll;

struct Chunk {
  std::shared_ptr<const spi::Allocation> memory;  ///< shared by all indices that were made from the first one
  std::int64_t first = 0;                         ///< its first training row
  std::int64_t rows = 0;
};

/// Returns how many training rows one block of device memory can hold: whole RowBlocks, at least one.
std::int64_t rows_a_chunk(const DeviceInfo& device, std::int64_t dims);

/// Returns the chunks of this many rows, without memory, because a plan does not need the values.
std::vector<Chunk> chunks_without_memory(const DeviceInfo& device, std::int64_t rows, std::int64_t dims);

/// Copies rows to the device, in chunks that are at most its largest allocation. The rows become training
/// rows `first`, first + 1, ... Throws out_of_memory.
std::vector<Chunk> upload_chunks(const std::shared_ptr<Device::State>& state, MatrixView<const float> rows,
                                 std::int64_t first, std::uint32_t threads);

}  // namespace kith
