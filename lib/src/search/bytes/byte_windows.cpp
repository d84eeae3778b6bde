#include "search/bytes/byte_windows.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "rows/landed/borrowed.hpp"
#include "rows/landed/landed_rows.hpp"
#include "rows/read_back.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::int64_t block = spi::quantized_block_rows;

/// Rows that are floats at a time: 64 MiB of them.
std::int64_t rows_at_once(std::int64_t dims) {
  constexpr std::int64_t most_floats = std::int64_t{1} << 24;
  return std::max(block, most_floats / dims / block * block);
}

/// Room for so many rows as RowBlocks.
DeviceMemory packed_memory(const Device& device, std::int64_t rows, std::int64_t dims) {
  return {device.state(), packed_bytes(rows, dims, device.info().train_block)};
}

/// The first rows, which fill a block that is begun: together with those that are in it.
///   rows  at most as many as it lacks
void fill_block(ByteStore& store, const Device& device, std::int64_t first, MatrixView<const float> rows) {
  const std::int64_t dims = rows.cols(), begun = first % block;
  std::vector<float> both(size(begun + rows.rows()) * size(dims));
  read_recovered(store, device, dims, first - begun, begun, both.data(), 0);
  for (std::int64_t r = 0; r < rows.rows(); ++r)
    std::copy_n(rows.row(r), dims, both.data() + size(begun + r) * size(dims));
  const DeviceMemory packed = packed_memory(device, block, dims);
  upload_rows(*device.state(), *packed.get(), {both.data(), begun + rows.rows(), dims},
              device.info().train_block, 0);
  store.put(first - begun, begun + rows.rows(), *packed.get());
}

/// How many rows fill the block that row `first` is in; 0 where it is the first of one.
std::int64_t rows_of_head(std::int64_t first, std::int64_t count) {
  return first % block == 0 ? 0 : std::min(count, block - first % block);
}

}  // namespace

float largest_of_rows(MatrixView<const float> rows) {
  const FloatGuard guard;
  float largest = 0;
  for (std::int64_t r = 0; r < rows.rows(); ++r)
    for (std::int64_t d = 0; d < rows.cols(); ++d) largest = std::max(largest, std::fabs(rows(r, d)));
  return largest;
}

float put_in_bytes(ByteStore& store, const Index::State& like, std::int64_t first,
                   const RowsForIndex& given) {
  const std::shared_ptr<Device::State>& state = like.device.state();
  const std::int64_t head = rows_of_head(first, given.rows.rows), rest = given.rows.rows - head;
  float largest = 0;
  if (head > 0) {
    std::vector<unsigned char> copy;
    const RowsView some = rows_on_host("index", given.what, state, given.rows.slice(0, head), copy);
    const PreparedRows rows = prepare_rows("index", given.what, some, like.metric, 1, like.mask());
    fill_block(store, like.device, first, rows.view);
    largest = rows.largest;
  }
  if (rest == 0) return largest;
  RowsToLand rows(state, given.rows.slice(head, rest),
                  {"index", given.what, like.metric, like.mask(), given.first_row + head});
  const std::int64_t step = std::min(rest, rows_at_once(like.dims));
  const DeviceMemory packed = packed_memory(like.device, step, like.dims);
  for (std::int64_t begin = 0; begin < rest; begin += step) {
    const std::int64_t count = std::min(step, rest - begin);
    rows.land_some(begin, count, packed);
    store.put(first + head + begin, count, *packed.get());
  }
  rows.check();
  return std::max(largest, rows.largest());
}

void put_in_bytes(ByteStore& store, const Device& device, std::int64_t first, MatrixView<const float> rows,
                  std::uint32_t threads) {
  const std::int64_t head = rows_of_head(first, rows.rows()), rest = rows.rows() - head;
  if (head > 0) fill_block(store, device, first, rows.slice(0, head));
  const std::int64_t step = std::min(rest, rows_at_once(rows.cols()));
  if (rest == 0) return;
  const DeviceMemory packed = packed_memory(device, step, rows.cols());
  for (std::int64_t begin = 0; begin < rest; begin += step) {
    const std::int64_t count = std::min(step, rest - begin);
    upload_rows(*device.state(), *packed.get(), rows.slice(head + begin, count), device.info().train_block,
                threads);
    store.put(first + head + begin, count, *packed.get());
  }
}

void read_recovered(const RowsOnDevice& store, const Device& device, std::int64_t dims, std::int64_t first,
                    std::int64_t count, float* to, std::uint32_t threads) {
  const std::int64_t begin = first - first % block, end = first + count;
  const std::int64_t step = std::min(rows_at_once(dims), end - begin);
  if (count == 0) return;
  const DeviceMemory packed = packed_memory(device, step, dims);
  std::vector<float> blocks, rows(size(step) * size(dims));
  for (std::int64_t at = begin; at < end; at += step) {
    const std::int64_t some = std::min(step, end - at), skipped = std::max<std::int64_t>(0, first - at);
    blocks.resize(packed_bytes(some, dims, device.info().train_block) / sizeof(float));
    store.land(at, some, *packed.get());
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

std::vector<Chunk> recovered_chunks(const RowsOnDevice& store, const Device& device, std::int64_t rows,
                                    std::int64_t dims) {
  std::vector<Chunk> chunks = unmade_chunks(device.info(), rows, dims);
  std::vector<std::shared_ptr<DeviceMemory>> memory;  // of all, before any work is done in vain
  memory.reserve(chunks.size());
  for (const Chunk& chunk : chunks)
    memory.push_back(std::make_shared<DeviceMemory>(packed_memory(device, chunk.rows, dims)));
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    store.land(chunks[i].first, chunks[i].rows, *memory[i]->get());
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

std::vector<float> sampled_rows(const PartedRows& rows, std::int64_t count, std::int64_t dims) {
  return sampled_rows(
      [&](std::int64_t first, std::int64_t some, float* to) { rows.read_rows(first, some, to, 1); }, count,
      dims);
}

void copy_rows(const ByteStore& from, const Device& device, std::int64_t dims, std::int64_t rows,
               ByteStore& to) {
  const std::int64_t step = std::min(rows, rows_at_once(dims));
  const DeviceMemory packed = packed_memory(device, step, dims);
  for (std::int64_t first = 0; first < rows; first += step) {
    const std::int64_t count = std::min(step, rows - first);
    from.land(first, count, *packed.get());
    to.put(first, count, *packed.get());
  }
}

float copy_some(const PartedRows& from, std::int64_t dims, std::span<const std::int64_t> places,
                const PutRows& put) {
  const std::int64_t step = rows_at_once(dims);
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
    from.read_rows(first, count, window.data(), 0);
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
