// How training rows that stay in a Source pass through a device: how many at a time, and in what memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/device.hpp"
#include "kith/index.hpp"
#include "kith/source.hpp"

namespace kith {

struct StreamSizes {
  std::int64_t chunk_rows = 0;
  std::size_t chunk_bytes = 0;  ///< device memory of the rows of a chunk, packed
  /// Of the rows as they are, where the device lands them: then two chunks of these are there at a time, and
  /// one that is packed. 0: two chunks that are packed.
  std::size_t raw_bytes = 0;
  std::size_t search_bytes =
      0;  ///< SearchOptions::memory_limit of the search of a chunk; 0: as the caller has it
};

/// Whether `rows` rows are to be on the device where IndexOptions::residence is `automatic`: as float32 they
/// take at most half of the limit or, without one, of the device's memory.
bool fits_device(const DeviceInfo& device, std::int64_t rows, std::int64_t dims, std::size_t memory_limit);

/// Whether rows pass as they are, and the device checks and packs them.
bool lands_on_device(const DeviceInfo& device, Metric metric);

///   rows    how many of what
///   dims    columns of the rows on the device
/// Throws invalid_argument: IndexOptions::chunk_rows below 0; out_of_memory: the limit has no room for a
/// chunk.
StreamSizes stream_sizes(const DeviceInfo& device, const RowsInfo& rows, Metric metric, std::int64_t dims,
                         const IndexOptions& options);

}  // namespace kith
