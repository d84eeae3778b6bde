#include "boxes/packed_rows.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "kith/spi/boxes.hpp"
#include "rows/rows.hpp"

namespace kith {

std::vector<spi::RowBlocks> parts_of(const ResidentRows& index) {
  std::vector<spi::RowBlocks> parts;
  for (const Chunk& chunk : index.chunks)
    parts.push_back({chunk.memory.get(), 0, static_cast<std::uint32_t>(chunk.rows),
                     static_cast<std::uint32_t>(index.dims), index.device.info().train_block});
  return parts;
}

spi::PackBoxesStep pack_step(std::vector<spi::RowBlocks> parts, spi::Allocation* numbers,
                             std::uint32_t places, spi::Allocation* packed, spi::Allocation* bounds) {
  const std::size_t line = std::size_t{parts.front().dims} * spi::box_rows;
  const std::size_t leaves = spi::boxes_of_level(places, 0);
  spi::PackBoxesStep step{
      std::move(parts), line_of<std::uint32_t>(numbers, places), {packed, 0, leaves, line, line}, {}};
  if (bounds) step.bounds = {bounds, 0, spi::box_blocks(places), 2 * line, 2 * line};
  return step;
}

bool packs_rows(const Device::State& device, std::int64_t dims) {
  if (device.info.train_block != spi::box_rows || device.info.profile.host_threads) return false;
  const spi::RowBlocks one{nullptr, 0, 1, static_cast<std::uint32_t>(dims), device.info.train_block};
  return device.check({pack_step({one}, nullptr, 1, nullptr, nullptr), 1}).refusal.empty();
}

std::vector<Chunk> packed_chunks(const ResidentRows& index, std::span<const std::int64_t> places,
                                 std::uint32_t threads) {
  const std::shared_ptr<Device::State>& state = index.device.state();
  const DeviceInfo& info = index.device.info();
  const auto all = static_cast<std::int64_t>(places.size()), most = rows_a_chunk(info, index.dims);
  std::vector<Chunk> chunks;
  for (std::int64_t first = 0; first < all; first += most) {
    const std::int64_t count = std::min(most, all - first);
    const auto begin = places.begin() + first;
    const DeviceMemory numbers = uploaded(state, std::vector<std::uint32_t>(begin, begin + count));
    const auto memory =
        std::make_shared<DeviceMemory>(state, packed_bytes(count, index.dims, info.train_block));
    const DeviceSession session(*state);
    session->enqueue(
        {pack_step(parts_of(index), numbers.get(), static_cast<std::uint32_t>(count), memory->get(), nullptr),
         threads});
    session->finish();
    chunks.push_back({{memory, memory->get()}, first, count});
  }
  return chunks;
}

}  // namespace kith
