#include "rows/read_back.hpp"

#include <algorithm>

#include "base/numbers.hpp"
#include "host/parallel.hpp"

namespace kith {

void unpack_rows(std::span<const float> packed, std::int64_t block, std::int64_t count, std::size_t dims,
                 float* to, std::uint32_t threads) {
  parallel_for(divide_up(count, block), static_cast<std::int64_t>(packed.size()), threads,
               [&](std::int64_t b) {
                 const float* const from = packed.data() + size(b * block) * dims;
                 const std::int64_t begin = b * block, some = std::min(block, count - begin);
                 for (std::int64_t r = 0; r < some; ++r)
                   for (std::size_t d = 0; d < dims; ++d)
                     to[size(begin + r) * dims + d] = from[d * size(block) + size(r)];
               });
}

void read_rows(const ResidentRows& index, const Chunk& chunk, std::int64_t first, std::int64_t count,
               float* to, std::vector<float>& packed, std::uint32_t threads) {
  const std::int64_t block = index.device.info().train_block, blocks = divide_up(count, block);
  const std::size_t dims = size(index.dims), block_floats = size(block) * dims;
  packed.resize(size(blocks) * block_floats);
  {
    const DeviceSession session(*index.device.state());
    session->read(*chunk.memory, size(first / block) * block_floats * sizeof(float), packed.data(),
                  packed.size() * sizeof(float));
  }
  unpack_rows(packed, block, count, dims, to, threads);
}

void read_places(const ResidentRows& index, std::int64_t first, std::int64_t count, float* to,
                 std::uint32_t threads) {
  const std::int64_t block = index.device.info().train_block;
  std::vector<float> rows, packed;
  for (const Chunk& chunk : index.chunks) {
    const std::int64_t begin = std::max(first, chunk.first),
                       end = std::min(first + count, chunk.first + chunk.rows);
    if (begin >= end) continue;
    const std::int64_t from = (begin - chunk.first) / block * block, some = end - chunk.first - from;
    rows.resize(size(some) * size(index.dims));
    read_rows(index, chunk, from, some, rows.data(), packed, threads);
    to = std::copy_n(rows.data() + size(begin - chunk.first - from) * size(index.dims),
                     size(end - begin) * size(index.dims), to);
  }
}

}  // namespace kith
