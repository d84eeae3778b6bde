#include "search/doubles/double_ranking.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/numbers.hpp"
#include "check/double_check.hpp"
#include "device/device_set.hpp"
#include "device/host_buffer.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "kith/spi.hpp"
#include "search/doubles/double_host_ranking.hpp"
#include "search/stores/row_store.hpp"

namespace kith {
namespace {

/// Bytes of queries and places, or of values, that a tile has about; a single query may need more.
constexpr std::size_t tile_bytes = std::size_t{1} << 24;

/// Returns how many queries are ranked at a time.
std::int64_t tile_of(std::int64_t m, std::int64_t dims, std::int64_t width) {
  const std::size_t a_query =
      size(dims) * sizeof(double) + size(width) * (sizeof(std::uint32_t) + sizeof(double));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(tile_bytes / a_query), 1, m);
}

/// Returns whether the device is the host, which reads the rows where they are.
bool is_host(const RankedAmong& among) {
  return among.device.info().profile.host_threads;
}

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

std::string why_no_room(const RankedAmong& among, const SearchOptions& options) {
  std::size_t missing = 0;
  for (const DoubleRows::Chunk& chunk : among.rows.chunks())
    if (chunk.there->bytes() == 0) missing += chunk.rows->values.size() * sizeof(double);
  const std::size_t held = among.bytes_held, memory = among.device.info().memory_bytes;
  const std::size_t half = memory > held ? (memory - held) / 2 : 0;
  const std::size_t allowed = options.memory_limit ? options.memory_limit : half;
  if (missing <= allowed) return "";
  return "its rows of doubles take " + std::to_string(missing) + " bytes of device memory, and " +
         std::to_string(allowed) + " are allowed";
}

}  // namespace

RankedAmong::RankedAmong(const Index::State& index)
    : RankedAmong(index.device, index.metric, index.doubles->rows, index.store->info().bytes) {}

DoubleRanker double_ranker(const RankedAmong& among, const SearchOptions& options) {
  if (is_set(among.device)) return {"the device is a set"};
  if (among.rows.source() && !is_host(among)) return {"the rows stay in their source"};
  const std::string refusal = test_double_chains(*among.device.state());
  if (!is_host(among)) return {refusal.empty() ? why_no_room(among, options) : refusal};
  if (!refusal.empty())
    throw Error(Errc::unsupported, "search: " + among.device.info().spec + ": " + refusal +
                                       ", and there is no other device; choose arithmetic f32");
  return {};
}

DoubleRanker prepare_ranker(const RankedAmong& among, const SearchOptions& options) {
  DoubleRanker ranker = double_ranker(among, options);
  if (!ranker.is_device() || is_host(among)) return ranker;
  try {
    for (const DoubleRows::Chunk& chunk : among.rows.chunks())
      chunk.there->of(among.device.state(), *chunk.rows);
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    ranker.why_host = "the device has no memory for its rows of doubles";
  }
  return ranker;
}

/// Memory for a tile: queries and then places; and values.
struct DoubleRanking::Workspace {
  Workspace(const std::shared_ptr<Device::State>& state, std::int64_t queries, std::int64_t dims,
            std::int64_t width)
      : tile(queries),
        sent(*state, sent_bytes(queries, dims, width)),
        got(*state, size(queries * width) * sizeof(double)),
        read(state, sent_bytes(queries, dims, width)),
        written(state, size(queries * width) * sizeof(double)) {}

  static std::size_t sent_bytes(std::int64_t queries, std::int64_t dims, std::int64_t width) {
    return size(queries * dims) * sizeof(double) + size(queries * width) * sizeof(std::uint32_t);
  }

  const std::int64_t tile;  ///< number of queries
  const HostBuffer sent, got;
  const DeviceMemory read, written;
};

DoubleRanking::DoubleRanking(const RankedAmong& among, const SearchOptions& options)
    : among_(among), threads_(options.threads), ranker_(prepare_ranker(among, options)) {}

void DoubleRanking::rank(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                         const Take& take, Trace* trace) {
  const std::int64_t m = queries.rows(), dims = queries.cols(), width = places.cols();
  if (m == 0 || width == 0) return;
  if (!ranker_.is_device() || is_host(among_)) return rank_here(queries, places, take);
  std::optional<Workspace> workspace;
  try {
    workspace.emplace(among_.device.state(), tile_of(m, dims, width), dims, width);
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    ranker_.why_host = "the device has no memory for the candidates";
  }
  workspace ? rank_there(queries, places, *workspace, take, trace) : rank_here(queries, places, take);
}

void DoubleRanking::rank_there(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                               const Workspace& workspace, const Take& take, Trace* trace) const {
  const std::shared_ptr<Device::State> state = among_.device.state();
  const std::size_t dims = size(queries.cols()), width = size(places.cols());
  const bool all_share = places.rows() == 1;
  for (std::int64_t first = 0; first < queries.rows(); first += workspace.tile) {
    const std::size_t count = size(std::min(workspace.tile, queries.rows() - first));
    const std::size_t lists = all_share ? 1 : count;
    const std::size_t behind = count * dims * 2;  // place of the places, counted as they are
    const std::span<std::uint32_t> sent = workspace.sent.as<std::uint32_t>(behind + lists * width);
    copy_by_many(queries.row(first), count * dims, workspace.sent.as<double>(count * dims).data(), threads_);
    copy_by_many(places.row(all_share ? 0 : first), lists * width, sent.data() + behind, threads_);
    const std::span<double> values = workspace.got.as<double>(count * width);
    {
      const DeviceSession session(*state);
      session->write(*workspace.read.get(), 0, sent.data(), sent.size_bytes());
      const std::uint64_t before = trace ? session->mark() : 0;
      for (const DoubleRows::Chunk& chunk : among_.rows.chunks())
        for (const DoublesOnDevice::Part& part : chunk.there->of(state, *chunk.rows))
          session->enqueue(
              {spi::DoubleChainsStep{among_.metric,
                                     {workspace.read.get(), 0, count, dims, dims},
                                     {part.memory.get(), 0, size(part.rows), dims, dims},
                                     static_cast<std::uint32_t>(chunk.first + part.first),
                                     {workspace.read.get(), behind, count, width, all_share ? 0 : width},
                                     {workspace.written.get(), 0, count, width, width}},
               threads_});
      const std::uint64_t after = trace ? session->mark() : 0;
      session->read(*workspace.written.get(), 0, values.data(), values.size_bytes());
      if (trace) {
        const double seconds = session->elapsed(before, after);
        trace->seconds[spi::DoubleChainsStep::name] += seconds;
        trace->device_seconds += seconds;
      }
    }
    take(first, static_cast<std::int64_t>(count), values);
  }
}

void DoubleRanking::rank_here(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                              const Take& take) const {
  const std::int64_t m = queries.rows(), dims = queries.cols(), width = places.cols();
  const DoubleHostRanking host(among_.metric, among_.rows, threads_);
  // Rows of a Source are read once for all queries.
  const std::int64_t tile = among_.rows.source() ? m : tile_of(m, dims, width);
  Doubles values(size(tile * width));
  for (std::int64_t first = 0; first < m; first += tile) {
    const std::int64_t count = std::min(tile, m - first);
    host.rank(queries.slice(first, count), places.rows() == 1 ? places : places.slice(first, count), values);
    take(first, count, {values.data(), size(count * width)});
  }
}

}  // namespace kith
