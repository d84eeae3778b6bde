#include "search/streams/stream_sizes.hpp"

#include <algorithm>
#include <string>

#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "rows/chunks.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::size_t most_chunk_bytes = std::size_t{1} << 27;
/// Of a limit: two chunks, and what a search takes beside its rows, which a proposer may take once more for
/// quantized rows.
constexpr std::size_t shares_of_limit = 4;
/// Of a device without a limit: other programs, and searches beside this one, have the rest.
constexpr std::size_t shares_of_device = 8;

}  // namespace

bool fits_device(const DeviceInfo& device, std::int64_t rows, std::int64_t dims, std::size_t memory_limit) {
  if (rows > most_rows) return false;
  const std::size_t memory = memory_limit ? memory_limit : device.memory_bytes;
  return packed_bytes(rows, dims, device.train_block) <= memory / 2;
}

StreamSizes stream_sizes(const DeviceInfo& device, std::int64_t rows, std::int64_t dims,
                         const IndexOptions& options) {
  if (options.chunk_rows < 0)
    throw Error(Errc::invalid_argument, "index: chunk_rows = " + std::to_string(options.chunk_rows) +
                                            "; choose 1 or more, or 0 for as many as fit");
  const std::size_t limit = options.memory_limit;
  const std::size_t room =
      std::min({most_chunk_bytes, device.largest_allocation,
                limit ? limit / shares_of_limit : device.memory_bytes / shares_of_device});
  const std::size_t block_bytes = size(dims) * device.train_block * sizeof(float);
  const auto fitting = static_cast<std::int64_t>(room / block_bytes) * device.train_block;
  StreamSizes sizes;
  sizes.chunk_rows = std::min({options.chunk_rows ? options.chunk_rows : std::max<std::int64_t>(fitting, 1),
                               rows, std::int64_t{most_rows}});
  sizes.chunk_bytes = packed_bytes(sizes.chunk_rows, dims, device.train_block);
  if (limit == 0) return sizes;
  const std::size_t chunks = sizes.chunk_bytes * (rows > sizes.chunk_rows ? 2 : 1);
  if (chunks >= limit)
    throw Error(Errc::out_of_memory, "index: two chunks of " + std::to_string(sizes.chunk_rows) +
                                         " training rows take " + std::to_string(chunks) + " bytes on " +
                                         device.spec + ", but the memory limit is " + std::to_string(limit) +
                                         "; raise it, or choose fewer rows a chunk");
  sizes.search_bytes = (limit - chunks) / 2;
  return sizes;
}

}  // namespace kith
