#include "search/packed/recovered_rows.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "rows/read_back.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t block = spi::quantized_block_rows;

}  // namespace

std::int64_t floats_at_once(std::int64_t dims) {
  constexpr std::int64_t most_floats = std::int64_t{1} << 24;
  return std::max(block, most_floats / dims / block * block);
}

DeviceMemory memory_of_floats(const RowSchema& schema, std::int64_t rows) {
  return {schema.device.state(), packed_bytes(rows, schema.dims, schema.device.info().train_block)};
}

float largest_of_rows(MatrixView<const float> rows) {
  const FloatGuard guard;
  float largest = 0;
  for (std::int64_t r = 0; r < rows.rows(); ++r)
    for (std::int64_t d = 0; d < rows.cols(); ++d) largest = std::max(largest, std::fabs(rows(r, d)));
  return largest;
}

void read_recovered(const RowsOnDevice& from, const RowSchema& schema, std::int64_t first, std::int64_t count,
                    float* to, std::uint32_t threads) {
  const std::int64_t dims = schema.dims;
  const Device& device = schema.device;
  const std::int64_t begin = first - first % block, end = first + count;
  const std::int64_t step = std::min(floats_at_once(dims), end - begin);
  if (count == 0) return;
  const DeviceMemory packed = memory_of_floats(schema, step);
  std::vector<float> blocks, rows(size(step) * size(dims));
  for (std::int64_t at = begin; at < end; at += step) {
    const std::int64_t some = std::min(step, end - at), skipped = std::max<std::int64_t>(0, first - at);
    blocks.resize(packed_bytes(some, dims, device.info().train_block) / sizeof(float));
    from.land(at, some, *packed.get());
    {
      const DeviceSession session(*device.state());
      session->read(*packed.get(), 0, blocks.data(), blocks.size() * sizeof(float));
    }
    unpack_rows(blocks, device.info().train_block, some, size(dims), rows.data(), threads);
    to = std::copy_n(rows.data() + size(skipped) * size(dims), size(some - skipped) * size(dims), to);
  }
}

std::vector<Chunk> unmade_chunks(const DeviceInfo& device, std::int64_t rows, std::int64_t dims) {
  const std::int64_t most = std::max(block, rows_a_chunk(device, dims) / block * block);
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < rows; first += most)
    chunks.push_back({nullptr, first, std::min(most, rows - first)});
  return chunks;
}

std::vector<Chunk> recovered_chunks(const RowsOnDevice& from, const RowSchema& schema, std::int64_t count) {
  std::vector<Chunk> chunks = unmade_chunks(schema.device.info(), count, schema.dims);
  // allocated for all chunks before any work, which could be in vain
  std::vector<std::shared_ptr<DeviceMemory>> memory;
  memory.reserve(chunks.size());
  for (const Chunk& chunk : chunks)
    memory.push_back(std::make_shared<DeviceMemory>(memory_of_floats(schema, chunk.rows)));
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    from.land(chunks[i].first, chunks[i].rows, *memory[i]->get());
    chunks[i].memory = {memory[i], memory[i]->get()};
  }
  return chunks;
}

std::vector<float> sampled_rows(const ReadRows& read, std::int64_t count, std::int64_t dims) {
  constexpr std::int64_t stretches = 32;
  const std::int64_t apart = std::max(block, count / stretches / block * block);
  std::vector<float> sample;
  for (std::int64_t first = 0; first < count; first += apart) {
    const std::int64_t some = std::min(block, count - first);
    sample.resize(sample.size() + size(some) * size(dims));
    read(first, some, sample.data() + sample.size() - size(some) * size(dims));
  }
  return sample;
}

float copy_some(const ReadRows& read, std::int64_t dims, std::span<const std::int64_t> places,
                const PutRows& put) {
  const std::int64_t step = floats_at_once(dims);
  std::vector<float> window, some;
  std::int64_t done = 0;
  float largest = 0;
  const auto flush = [&] {
    const auto count = static_cast<std::int64_t>(some.size()) / dims;
    const MatrixView<const float> rows(some.data(), count, dims);
    largest = std::max(largest, largest_of_rows(rows));
    put(done, rows);
    done += count;
    some.clear();
  };
  for (std::size_t i = 0; i < places.size();) {
    const std::int64_t first = places[i];
    std::size_t end = i;
    while (end < places.size() && places[end] < first + step) ++end;
    const std::int64_t count = places[end - 1] - first + 1;
    window.resize(size(count) * size(dims));
    read(first, count, window.data());
    for (; i < end; ++i) {
      const float* const row = window.data() + size(places[i] - first) * size(dims);
      some.insert(some.end(), row, row + dims);
      if (static_cast<std::int64_t>(some.size()) >= step * dims) flush();
    }
  }
  if (!some.empty()) flush();
  return largest;
}

}  // namespace kith
