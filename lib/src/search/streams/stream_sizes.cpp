#include "search/streams/stream_sizes.hpp"

#include <algorithm>
#include <string>

#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/chunks.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

/// Limits the bytes of a chunk. They are large on a GPU, which starts a search of 10,000 queries again for
/// each chunk. If the host packs chunks, it holds each twice, and a CPU should keep one in its cache.
std::size_t most_chunk_bytes(const DeviceInfo& device, bool lands) {
  return std::size_t{1} << (lands && device.kind == DeviceKind::gpu ? 29 : 27);
}
/// A chunk takes this part of a limit, which holds two chunks, the memory of a search, and perhaps
/// quantized rows.
constexpr std::size_t shares_of_limit = 4;
/// Without a limit a chunk takes this part of the device; other programs, and other searches, have the rest.
constexpr std::size_t shares_of_device = 8;

/// Returns whether rows are copied as they are, and the device checks and packs them.
bool lands_on_device(const DeviceInfo& device, Metric metric) {
  return device.profile.lands_rows && lands_as_given(metric);
}

}  // namespace

bool fits_device(const DeviceInfo& device, std::int64_t rows, std::int64_t dims, std::size_t memory_limit) {
  if (rows > most_rows) return false;
  const std::size_t memory = memory_limit ? memory_limit : device.memory_bytes;
  return packed_bytes(rows, dims, device.train_block) <= memory / 2;
}

StreamSizes stream_sizes(const DeviceInfo& device, const RowsInfo& rows, Metric metric, std::int64_t dims,
                         const IndexOptions& options) {
  if (options.chunk_rows < 0)
    throw Error(Errc::invalid_argument, "index: chunk_rows = " + std::to_string(options.chunk_rows) +
                                            "; choose 1 or more, or 0 for as many as fit");
  const std::size_t limit = options.memory_limit, packed = size(dims) * sizeof(float);
  const std::size_t raw = lands_on_device(device, metric) ? size(row_bytes(rows.element, rows.cols)) : 0;
  // One packed chunk and two of raw rows take as much as two packed chunks would.
  const std::size_t row = raw > 0 ? std::max(packed, (packed + 2 * raw + 1) / 2) : packed;
  const std::size_t room = limit ? limit / shares_of_limit : device.memory_bytes / shares_of_device;
  const std::size_t most =
      std::min(most_chunk_bytes(device, raw > 0), device.largest_allocation) / std::max(packed, raw);
  const auto fitting = static_cast<std::int64_t>(std::min(most, room / row) / device.train_block) *
                       static_cast<std::int64_t>(device.train_block);
  StreamSizes sizes;
  sizes.chunk_rows = std::min({options.chunk_rows ? options.chunk_rows : std::max<std::int64_t>(fitting, 1),
                               rows.rows, std::int64_t{most_rows}});
  sizes.chunk_bytes = packed_bytes(sizes.chunk_rows, dims, device.train_block);
  sizes.raw_bytes = size(sizes.chunk_rows) * raw;
  if (limit == 0) return sizes;
  const std::size_t at_a_time = rows.rows > sizes.chunk_rows ? 2 : 1;
  const std::size_t chunks =
      raw > 0 ? sizes.chunk_bytes + at_a_time * sizes.raw_bytes : at_a_time * sizes.chunk_bytes;
  if (chunks >= limit)
    throw Error(Errc::out_of_memory, "index: two chunks of " + std::to_string(sizes.chunk_rows) +
                                         " training rows take " + std::to_string(chunks) + " bytes on " +
                                         device.spec + ", but the memory limit is " + std::to_string(limit) +
                                         "; raise it, or choose fewer rows a chunk");
  sizes.search_bytes = (limit - chunks) / 2;
  return sizes;
}

}  // namespace kith
