#include "tiles/workspace.hpp"

#include <utility>

#include "base/numbers.hpp"

namespace kith {
namespace {

DeviceMemory memory_of(const std::shared_ptr<Device::State>& state, std::size_t bytes) {
  return bytes ? DeviceMemory(state, bytes) : DeviceMemory();
}

}  // namespace

Workspace::Workspace(const std::shared_ptr<Device::State>& state, const Plan& plan, std::size_t scratch_bytes,
                     DeviceMemory queries)
    : plan_(plan),
      query_block_(state->device->info.query_block),
      queries_(std::move(queries)),
      scratch_bytes_(scratch_bytes),
      upload_(state) {
  const WorkspaceSizes sizes = workspace_sizes(state->device->info, plan);
  if (!queries_) queries_ = memory_of(state, sizes.queries);
  distances_ = memory_of(state, sizes.distances);
  for (std::size_t i = 0; i < sizes.list_blocks; ++i) lists_[i] = memory_of(state, sizes.lists);
  result_ = memory_of(state, sizes.result);
  scratch_ = memory_of(state, scratch_bytes);
}

spi::RowBlocks Workspace::queries(std::int64_t count) const {
  return {elsewhere_ ? elsewhere_ : queries_.get(), 0, static_cast<std::uint32_t>(count),
          static_cast<std::uint32_t>(plan_.problem.dims), query_block_};
}

spi::Grid<float> Workspace::distances(std::int64_t count, std::int64_t train_rows) const {
  return {distances_.get(), 0, size(count), size(train_rows), size(train_rows)};
}

spi::Scratch Workspace::scratch() const {
  return {scratch_.get(), scratch_bytes_};
}

spi::Grid<Key> Workspace::result(std::int64_t count) const {
  const std::size_t k = size(plan_.problem.k);
  return {result_.get(), 0, size(count), k, k};
}

std::vector<std::uint32_t> Workspace::read_words(Device::State& state, const spi::Grid<std::uint32_t>& words,
                                                 std::int64_t count) {
  // To read more in vain would take longer than a wait.
  constexpr std::size_t most_bytes = std::size_t{1} << 20;
  std::vector<std::uint32_t> values(size(count));
  const spi::Grid<Key> result = this->result(count);
  const std::size_t keys = result.rows * result.cols;
  keys_ = room_ && keys * sizeof(Key) <= most_bytes ? room_().first(keys) : std::span<Key>();
  const spi::Piece pieces[] = {{words.memory, words.first * sizeof(std::uint32_t), values.data(),
                                values.size() * sizeof(std::uint32_t)},
                               {result.memory, 0, keys_.data(), keys_.size_bytes()}};
  {
    const DeviceSession session(state);
    session->read_pieces(std::span(pieces).first(keys_.empty() ? 1 : 2));
  }
  upload_.let_go();
  return values;
}

std::span<Key> Workspace::keys_read(std::int64_t count) const {
  return keys_.size() == size(count) * size(plan_.problem.k) ? keys_ : std::span<Key>();
}

TileLists Workspace::lists(std::int64_t count, std::int64_t tile, bool last) const {
  const std::size_t k = size(plan_.problem.k), parts = size(plan_.lists);
  const bool first = tile == 0;
  const bool one_tile = first && last;
  const std::size_t stride = (parts + (one_tile ? 0 : 1)) * k;
  const auto block = [&](std::int64_t number, std::size_t begin, std::size_t cols) {
    return spi::Grid<Key>{lists_[number % 2].get(), begin, size(count), cols, stride};
  };
  TileLists lists;
  lists.merge_out = last ? result(count) : block(tile + 1, parts * k, k);
  if (first && parts == 1) {
    lists.select_out = lists.merge_out;
    return lists;
  }
  lists.merge = true;
  lists.lists = static_cast<std::uint32_t>(parts + (first ? 0 : 1));
  lists.select_out = block(tile, 0, parts * k);
  lists.merge_in = block(tile, 0, lists.lists * k);
  return lists;
}

}  // namespace kith
