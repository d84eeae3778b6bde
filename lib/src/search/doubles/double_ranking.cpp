#include "search/doubles/double_ranking.hpp"

#include <algorithm>
#include <optional>

#include "base/numbers.hpp"
#include "check/double_check.hpp"
#include "device/device_set.hpp"
#include "kith/error.hpp"
#include "search/doubles/double_host_ranking.hpp"
#include "search/doubles/ranking_tiles.hpp"
#include "search/stores/row_store.hpp"

namespace kith {
namespace {

/// Returns whether the device is the host, which reads the rows where they are.
bool is_host(const RankedAmong& among) {
  return among.device.info().profile.host_threads;
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
    : RankedAmong(index.device, index.metric, index.doubles->rows, index.store->info().bytes) {
  terms = index.terms.get();
}

DoubleRanker double_ranker(const RankedAmong& among, const SearchOptions& options) {
  if (is_set(among.device)) return {"the device is a set"};
  if (among.rows.source() && !is_host(among)) return {"the rows stay in their source"};
  if (among.terms && !is_host(among))
    return {among.terms->is_mixed() ? "columns have terms" : "the rows are in a periodic box"};
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

DoubleRanking::DoubleRanking(const RankedAmong& among, const SearchOptions& options)
    : among_(among), threads_(options.threads), ranker_(prepare_ranker(among, options)) {}

void DoubleRanking::rank(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                         const TakeValues& take, Trace* trace) {
  const std::int64_t m = queries.rows(), dims = queries.cols(), width = places.cols();
  if (m == 0 || width == 0) return;
  if (!ranker_.is_device() || is_host(among_)) return rank_here(queries, places, take);
  std::optional<RankingTiles> tiles;
  try {
    tiles.emplace(among_, threads_, m, dims, width);
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory) throw;
    ranker_.why_host = "the device has no memory for the candidates";
  }
  tiles ? tiles->rank(queries, places, take, trace) : rank_here(queries, places, take);
}

void DoubleRanking::rank_here(MatrixView<const double> queries, MatrixView<const std::uint32_t> places,
                              const TakeValues& take) const {
  const std::int64_t m = queries.rows(), dims = queries.cols(), width = places.cols();
  const DoubleHostRanking host(among_, threads_);
  // Rows of a Source are read once for all queries.
  const std::int64_t tile = among_.rows.source() ? m : RankingTiles::queries_of(m, dims, width);
  Doubles values(size(tile * width));
  for (std::int64_t first = 0; first < m; first += tile) {
    const std::int64_t count = std::min(tile, m - first);
    host.rank(queries.slice(first, count), places.rows() == 1 ? places : places.slice(first, count), values);
    take(first, count, {values.data(), size(count * width)});
  }
}

}  // namespace kith
