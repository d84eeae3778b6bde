// How training rows that stay in a Source pass through a device: how many at a time, and in what memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/device.hpp"
#include "kith/index.hpp"

namespace kith {

struct StreamSizes {
  std::int64_t chunk_rows = 0;
  std::size_t chunk_bytes = 0;  ///< device memory of the rows of a chunk, of which there are two at a time
  std::size_t search_bytes =
      0;  ///< PlanOptions::memory_limit of the search of a chunk; 0: as the caller has it
};

/// Whether `rows` rows are to be on the device where IndexOptions::residence is `automatic`: as float32 they
/// take at most half of the limit or, without one, of the device's memory.
bool fits_device(const DeviceInfo& device, std::int64_t rows, std::int64_t dims, std::size_t memory_limit);

/// Throws invalid_argument: IndexOptions::chunk_rows below 0; out_of_memory: the limit has no room for a
/// chunk.
StreamSizes stream_sizes(const DeviceInfo& device, std::int64_t rows, std::int64_t dims,
                         const IndexOptions& options);

}  // namespace kith
