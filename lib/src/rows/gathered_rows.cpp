#include "rows/gathered_rows.hpp"

#include <algorithm>
#include <cstdint>

#include "base/numbers.hpp"
#include "device/host_buffer.hpp"
#include "host/parallel.hpp"

namespace kith {

std::vector<float> gathered_rows(const ResidentRows& index, std::span<const std::int64_t> places,
                                 std::uint32_t threads) {
  constexpr std::size_t staging_floats = std::size_t{1} << 23;  // 32 MiB per read
  const std::size_t dims = size(index.dims), block = index.device.info().train_block;
  const auto rows_of_block = static_cast<std::int64_t>(block);
  // If rows are in host memory, blocks without a wanted row need not be read.
  const bool sparse = index.device.info().profile.host_threads &&
                      static_cast<std::int64_t>(places.size()) * 2 * rows_of_block <= index.rows;
  const std::int64_t step =
      sparse ? rows_of_block
             : static_cast<std::int64_t>(std::max<std::size_t>(1, staging_floats / (dims * block)) * block);
  std::vector<float> rows(places.size() * dims);
  std::size_t begin = 0;
  for (const Chunk& chunk : index.chunks) {
    const std::int64_t padded =
        divide_up(chunk.rows, static_cast<std::int64_t>(block)) * static_cast<std::int64_t>(block);
    const HostBuffer buffer(*index.device.state(), size(std::min(step, padded)) * dims * sizeof(float));
    const std::span<float> staging = buffer.as<float>(size(std::min(step, padded)) * dims);
    while (begin < places.size() && places[begin] < chunk.first + chunk.rows) {
      const std::int64_t first = (places[begin] - chunk.first) / rows_of_block * rows_of_block;
      const std::int64_t behind = chunk.first + std::min(first + step, chunk.rows);
      std::size_t end = begin;
      while (end < places.size() && places[end] < behind) ++end;
      {
        const DeviceSession session(*index.device.state());
        session->read(*chunk.memory, size(first) * dims * sizeof(float), staging.data(),
                      size(std::min(step, padded - first)) * dims * sizeof(float));
      }
      parallel_for(static_cast<std::int64_t>(end - begin), static_cast<std::int64_t>((end - begin) * dims),
                   threads, [&](std::int64_t i) {
                     const std::size_t to = begin + size(i);
                     const std::size_t row = size(places[to] - chunk.first - first);
                     const float* const from = staging.data() + row / block * block * dims + row % block;
                     for (std::size_t d = 0; d < dims; ++d) rows[to * dims + d] = from[d * block];
                   });
      begin = end;
    }
  }
  return rows;
}

}  // namespace kith
