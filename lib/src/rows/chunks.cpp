#include "rows/chunks.hpp"

#include <algorithm>

#include "rows/rows.hpp"

namespace kith {

std::int64_t rows_a_chunk(const DeviceInfo& device, std::int64_t dims) {
  const std::size_t block_bytes = static_cast<std::size_t>(dims) * device.train_block * sizeof(float);
  const std::size_t blocks = std::max<std::size_t>(1, device.largest_allocation / block_bytes);
  return static_cast<std::int64_t>(std::min<std::size_t>(blocks, 0xFFFFFFFFu)) * device.train_block;
}

std::vector<Chunk> chunks_without_memory(const DeviceInfo& device, std::int64_t rows, std::int64_t dims) {
  const std::int64_t most = rows_a_chunk(device, dims);
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < rows; first += most)
    chunks.push_back({nullptr, first, std::min(most, rows - first)});
  return chunks;
}

std::vector<Chunk> upload_chunks(const std::shared_ptr<Device::State>& state, MatrixView<const float> rows,
                                 std::int64_t first, std::uint32_t threads) {
  const DeviceInfo& device = state->device->info;
  const std::int64_t most = rows_a_chunk(device, rows.cols());
  std::vector<Chunk> chunks;
  for (std::int64_t begin = 0; begin < rows.rows(); begin += most) {
    const std::int64_t count = std::min(most, rows.rows() - begin);
    const auto memory =
        std::make_shared<DeviceMemory>(state, packed_bytes(count, rows.cols(), device.train_block));
    upload_rows(*state, *memory->get(), rows.slice(begin, count), device.train_block, threads);
    chunks.push_back({{memory, memory->get()}, first + begin, count});
  }
  return chunks;
}

}  // namespace kith
