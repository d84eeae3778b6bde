#include "search/doubles/ranking_tiles.hpp"

#include <algorithm>
#include <cstring>

#include "base/numbers.hpp"
#include "device/host_buffer.hpp"
#include "host/parallel.hpp"
#include "kith/spi.hpp"

namespace kith {
namespace {

/// Bytes of queries and places, or of values, that a tile has about; a single query may need more.
constexpr std::size_t tile_bytes = std::size_t{1} << 23;

/// Copies a matrix that has no gaps by several threads.
template <class T>
void copy_by_many(const T* from, std::size_t count, T* to, std::uint32_t threads) {
  constexpr std::size_t share = (std::size_t{1} << 16) / sizeof(T);
  const std::size_t shares = (count + share - 1) / share;
  parallel_for(static_cast<std::int64_t>(shares), static_cast<std::int64_t>(count), threads,
               [&](std::int64_t s) {
                 const std::size_t first = size(s) * share;
                 std::memcpy(to + first, from + first, std::min(share, count - first) * sizeof(T));
               });
}

}  // namespace

std::int64_t RankingTiles::queries_of(std::int64_t m, std::int64_t dims, std::int64_t width) {
  const std::size_t a_query =
      size(dims) * sizeof(double) + size(width) * (sizeof(std::uint32_t) + sizeof(double));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(tile_bytes / a_query), 1, m);
}

/// Queries and behind them places, and the values that the device makes of them.
struct RankingTiles::Tile {
  Tile(const std::shared_ptr<Device::State>& state, std::size_t sent_bytes, std::size_t value_bytes)
      : sent(*state, sent_bytes),
        got(*state, value_bytes),
        read(state, sent_bytes),
        written(state, value_bytes) {}

  const HostBuffer sent, got;
  const DeviceMemory read, written;
  std::size_t count = 0, dims = 0, width = 0, lists = 0;
  std::uint64_t begun = 0, done = 0;  ///< time stamps

  std::size_t places_at() const { return count * dims * 2; }  // counted in places
};

RankingTiles::RankingTiles(const RankedAmong& among, std::uint32_t threads, std::int64_t m, std::int64_t dims,
                           std::int64_t width)
    : among_(among), threads_(threads), step_(queries_of(m, dims, width)) {
  const std::size_t values = size(step_ * width) * sizeof(double);
  const std::size_t sent = size(step_ * dims) * sizeof(double) + size(step_ * width) * sizeof(std::uint32_t);
  for (int i = 0; i < (m > step_ ? 2 : 1); ++i)
    tiles_.push_back(std::make_unique<Tile>(among.device.state(), sent, values));
}

RankingTiles::~RankingTiles() = default;

void RankingTiles::fill(Tile& tile, MatrixView<const double> queries,
                        MatrixView<const std::uint32_t> places) const {
  tile.count = size(queries.rows());
  tile.dims = size(queries.cols());
  tile.width = size(places.cols());
  tile.lists = size(places.rows());
  const std::size_t all = tile.places_at() + tile.lists * tile.width;
  copy_by_many(queries.data(), tile.count * tile.dims, tile.sent.as<double>(tile.count * tile.dims).data(),
               threads_);
  copy_by_many(places.data(), tile.lists * tile.width,
               tile.sent.as<std::uint32_t>(all).data() + tile.places_at(), threads_);
}

void RankingTiles::begin(Tile& tile, bool timed) const {
  const std::shared_ptr<Device::State> state = among_.device.state();
  const std::size_t count = tile.count, dims = tile.dims, width = tile.width;
  const auto sent = tile.sent.as<std::uint32_t>(tile.places_at() + tile.lists * width);
  const DeviceSession session(*state);
  if (tile.sent.reader() == Reader::device)
    session->write_later(*tile.read.get(), 0, sent.data(), sent.size_bytes());
  else
    session->write(*tile.read.get(), 0, sent.data(), sent.size_bytes());
  if (timed) tile.begun = session->mark();
  for (const DoubleRows::Chunk& chunk : among_.rows.chunks())
    for (const DoublesOnDevice::Part& part : chunk.there->of(state, *chunk.rows))
      session->enqueue({spi::DoubleChainsStep{among_.metric,
                                              {tile.read.get(), 0, count, dims, dims},
                                              {part.memory.get(), 0, size(part.rows), dims, dims},
                                              static_cast<std::uint32_t>(chunk.first + part.first),
                                              {tile.read.get(), tile.places_at(), count, width,
                                               tile.lists == count ? width : 0},
                                              {tile.written.get(), 0, count, width, width}},
                        threads_});
  if (timed) tile.done = session->mark();
}

std::span<const double> RankingTiles::values_of(Tile& tile, Trace* trace) const {
  const std::span<double> values = tile.got.as<double>(tile.count * tile.width);
  const DeviceSession session(*among_.device.state());
  session->read(*tile.written.get(), 0, values.data(), values.size_bytes());
  if (trace) {
    const double seconds = session->elapsed(tile.begun, tile.done);
    trace->seconds[spi::DoubleChainsStep::name] += seconds;
    trace->device_seconds += seconds;
  }
  return values;
}

void RankingTiles::rank(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                        const TakeValues& take, Trace* trace) {
  const std::int64_t m = queries.rows();
  const auto count_at = [&](std::int64_t first) { return std::min(step_, m - first); };
  const auto fill_at = [&](std::int64_t first) {
    const std::int64_t count = count_at(first);
    fill(tile_at(first), queries.slice(first, count),
         places.rows() == 1 ? places : places.slice(first, count));
  };
  fill_at(0);
  begin(tile_at(0), trace != nullptr);
  for (std::int64_t first = 0; first < m; first += step_) {
    const std::int64_t next = first + step_;
    if (next < m) fill_at(next);
    const std::span<const double> values = values_of(tile_at(first), trace);
    if (next < m) begin(tile_at(next), trace != nullptr);
    take(first, count_at(first), values);
  }
}

}  // namespace kith
