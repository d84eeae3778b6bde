#include "rows/queries/sent_queries.hpp"

#include <algorithm>
#include <bit>
#include <span>
#include <utility>

#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "rows/pack_block.hpp"
#include "rows/rows.hpp"

namespace kith {
namespace {

constexpr std::size_t bytes_a_part = std::size_t{1} << 22;

std::int64_t rows_a_part(std::size_t row_bytes, std::int64_t block) {
  return block *
         static_cast<std::int64_t>(std::max<std::size_t>(1, bytes_a_part / (row_bytes * size(block))));
}

}  // namespace

std::shared_ptr<SentQueries> SentQueries::of(const std::shared_ptr<Device::State>& state, std::int64_t rows,
                                             std::int64_t dims, QueryLook look, bool as_bytes) {
  if (state->device->info.profile.host_threads) return nullptr;
  const std::uint32_t block = state->device->info.query_block;
  const std::size_t packed = packed_bytes(rows, dims, block);
  if (packed == 0 || staging_floats(rows, dims, block) * sizeof(float) < packed) return nullptr;
  const std::optional<Element> bytes = as_bytes ? element_of(look.grid) : std::nullopt;
  auto from = std::make_unique<HostBuffer>(*state, bytes ? size(rows * dims) : packed);
  if (from->reader() != Reader::device) return nullptr;
  try {
    return std::shared_ptr<SentQueries>(
        new SentQueries(state, rows, dims, std::move(look), bytes, std::move(from)));
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    return nullptr;
  }
}

SentQueries::SentQueries(const std::shared_ptr<Device::State>& state, std::int64_t rows, std::int64_t dims,
                         QueryLook look, std::optional<Element> bytes, std::unique_ptr<HostBuffer> from)
    : state_(state),
      look_(std::move(look)),
      asks_grid_(look_.grid.there() && is_of_floats(look_.grid)),
      bytes_(bytes),
      rows_(rows),
      dims_(dims),
      block_(state->device->info.query_block),
      part_(rows_a_part(size(dims) * (bytes_ ? 1 : sizeof(float)), block_)),
      to_(state, packed_bytes(rows, dims, state->device->info.query_block)),
      packed_(from->as<unsigned char>(1).data()),
      upload_(state) {
  if (bytes_) {
    raw_ = DeviceMemory(state, size(rows * dims));
    landing_.emplace(state, "search", std::span<const std::int64_t>(), dims, false);
  }
  upload_.hold(std::move(from));
}

void SentQueries::take(MatrixView<const float> rows, std::int64_t first, std::int64_t count) {
  look_at(rows, first, count);
  if (bytes_) return;
  auto* const floats = reinterpret_cast<float*>(packed_);
  for (std::int64_t r = first; r < first + count; r += block_)
    pack_block(rows, r, block_, floats + size(r * dims_), Reader::device);
}

void SentQueries::look_at(MatrixView<const float> rows, std::int64_t first, std::int64_t count) {
  const auto is_on = [&](std::int64_t r) {
    return bytes_ ? to_bytes(*bytes_, rows.row(r), dims_, packed_ + size(r * dims_))
                  : lies_on(look_.grid, rows.row(r), dims_);
  };
  for (std::int64_t r = first; asks_grid_ && on_grid_.load(std::memory_order_relaxed) && r < first + count;
       ++r)
    if (!is_on(r)) on_grid_.store(false, std::memory_order_relaxed);
  if (asks_grid_ || look_.centre.empty()) return;
  std::int32_t most = 0;
  for (std::int64_t r = divide_up(first, look_.stride) * look_.stride; r < first + count; r += look_.stride)
    most = std::max(most, range_bits(rows.row(r), look_.centre));
  raise(range_, most);
}

void SentQueries::send(std::int64_t first, std::int64_t count) {
  const DeviceSession session(*state_);
  if (bytes_) {
    if (on_grid_)
      session->write_later(*raw_.get(), size(first * dims_), packed_ + first * dims_, size(count * dims_));
    return;
  }
  const std::size_t begin = size(first * dims_) * sizeof(float),
                    bytes = size(divide_up(count, block_) * block_ * dims_) * sizeof(float);
  session->write_later(*to_.get(), begin, packed_ + begin, bytes);
}

bool SentQueries::land() {
  if (!bytes_) return true;
  if (!on_grid_) return false;
  const auto rows = static_cast<std::uint32_t>(rows_), dims = static_cast<std::uint32_t>(dims_);
  {
    const DeviceSession session(*state_);
    landing_->land({raw_.get(), *bytes_, 0, size(dims_), rows, dims},
                   {to_.get(), 0, rows, dims, static_cast<std::uint32_t>(block_)}, 0);
  }
  raw_ = {};  // others use this memory only behind the landing
  return true;
}

std::optional<bool> SentQueries::all_on(const ByteGrid& grid) const {
  return asks_grid_ && grid == look_.grid ? std::optional(on_grid_.load()) : std::nullopt;
}

std::optional<double> SentQueries::range_around(const std::vector<float>& centre) const {
  if (asks_grid_ || centre.empty() || centre != look_.centre) return std::nullopt;
  return static_cast<double>(std::bit_cast<float>(range_.load()));
}

}  // namespace kith
