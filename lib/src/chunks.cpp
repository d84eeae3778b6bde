#include "chunks.hpp"

#include <algorithm>

#include "plan_memory.hpp"
#include "rows.hpp"

namespace kith {

std::vector<Chunk> upload_chunks(const std::shared_ptr<Device::State>& state, MatrixView<const float> rows,
                                 std::uint32_t threads) {
  const DeviceInfo& device = state->device->info;
  const std::int64_t most = rows_a_chunk(device, rows.cols());
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < rows.rows(); first += most) {
    const std::int64_t count = std::min(most, rows.rows() - first);
    Chunk chunk{DeviceMemory(state, packed_bytes(count, rows.cols(), device.train_block)), first, count};
    upload_rows(*state, *chunk.memory.get(), rows.slice(first, count), device.train_block, threads);
    chunks.push_back(std::move(chunk));
  }
  return chunks;
}

}  // namespace kith
