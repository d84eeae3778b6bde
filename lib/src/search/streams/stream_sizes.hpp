// Decides how many rows of a Source pass through a device at a time, and how much memory they take.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/device.hpp"
#include "kith/index.hpp"
#include "kith/source.hpp"

namespace kith {

struct StreamSizes {
  std::int64_t chunk_rows = 0;
  std::size_t chunk_bytes = 0;  ///< device memory of a packed chunk
  /// Device memory of a chunk of rows as they are, if the device lands them: then it holds two of these
  /// chunks, and one packed chunk. 0: it holds two packed chunks.
  std::size_t raw_bytes = 0;
  std::size_t search_bytes = 0;  ///< SearchOptions::memory_limit for searching a chunk; 0: as the caller says
};

/// Returns whether `rows` rows are kept on the device if IndexOptions::residence is `automatic`: as float32
/// they take at most half of the limit or, without one, of the device's memory.
bool fits_device(const DeviceInfo& device, std::int64_t rows, std::int64_t dims, std::size_t memory_limit);

///   rows  number and element of the rows
///   dims  columns of the rows on the device
/// Throws invalid_argument: IndexOptions::chunk_rows below 0; out_of_memory: the limit has no room for a
/// chunk.
StreamSizes stream_sizes(const DeviceInfo& device, const RowsInfo& rows, Metric metric, std::int64_t dims,
                         const IndexOptions& options);

}  // namespace kith
