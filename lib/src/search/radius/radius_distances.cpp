// Radius searches by distances.
#include <algorithm>
#include <exception>
#include <new>
#include <string>
#include <utility>

#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "host/host_memory.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/radius/radius.hpp"
#include "tiles/tiles.hpp"

namespace kith {
namespace {

constexpr std::size_t dense_floats = std::size_t{1} << 23;  // 32 MiB of distances are read at a time
constexpr std::int64_t work_a_key = 32;                     // rough work of sorting and finishing a key

/// Runs `allocate`, which makes room on the host for `rows` rows of the result, of which `listed` are still
/// keys. Throws out_of_memory.
template <class Allocate>
void with_room(std::size_t rows, std::size_t listed, const Allocate& allocate) {
  const std::size_t bytes = rows * (sizeof(float) + sizeof(std::int64_t)) + listed * sizeof(Key);
  try {
    if (bytes > host_memory().bytes) throw std::bad_alloc();
    allocate();
  } catch (const std::exception&) {  // bad_alloc, length_error
    const HostMemory memory = host_memory();
    throw Error(Errc::out_of_memory,
                "within: " + std::to_string(rows) + " rows were found so far, which take " +
                    std::to_string(bytes) + " bytes on the way, but of the " + std::to_string(memory.bytes) +
                    " bytes that " + std::string(memory.whose) +
                    " not that much is free; ask for fewer queries, or a smaller radius");
  }
}

/// Collects the result as users see it.
struct Shown {
  RadiusNeighbors found;

  void grow(std::size_t total) {
    found.distance.resize(total);
    found.row.resize(total);
  }
  void put(const ResidentRows& index, std::size_t to, Key key) {
    found.distance[to] = finish(index.shown, value_of(key));
    found.row[to] = static_cast<std::int64_t>(row_of(key));
  }
};

/// Collects the result as keys that shards exchange.
struct Kept {
  RadiusKeys found;

  void grow(std::size_t total) {
    found.value.resize(total);
    found.row.resize(total);
  }
  void put(const ResidentRows&, std::size_t to, Key key) {
    found.value[to] = static_cast<std::uint32_t>(key >> 32);
    found.row[to] = static_cast<std::int64_t>(row_of(key));
  }
};

/// Runs one radius search by distances.
class RadiusSearch {
 public:
  RadiusSearch(const ResidentRows& index, const Plan& plan, const SearchOptions& options, Trace* trace)
      : index_(index),
        plan_(plan),
        trace_(trace),
        state_(index.device.state()),
        workspace_(state_, plan),
        filter_(state_, plan, options) {}

  /// Begins a query tile, before its training tiles.
  ///   bounds  [queries.rows()]
  void begin(MatrixView<const float> queries, std::int64_t first, std::span<const float> bounds);
  ///   before  number of rows found for queries of earlier tiles
  void run_tile(const Tile& tile, std::int64_t before);
  /// Appends the result of the query tile, after its last training tile.
  ///   result  Shown or Kept
  template <class Result>
  void append_to(Result& result);

 private:
  void count_rows(const Tile& tile);
  void take_listed(const Tile& tile);
  void take_dense(const Tile& tile, const std::vector<std::size_t>& queries);
  void grow_lists(std::int64_t before);
  /// Lists of more rows are read as distances; all are where no kernel ranks lists.
  std::int64_t longest_list() const { return index_.ranks_no_lists() ? 0 : plan_.candidates; }
  void write(spi::Allocation& to, const void* from, std::size_t bytes) {
    state_->device->write(to, 0, from, bytes);
  }

  const ResidentRows& index_;
  const Plan& plan_;
  Trace* const trace_;
  const std::shared_ptr<Device::State>& state_;
  const RadiusWorkspace workspace_;
  const DeviceFilter filter_;
  std::int64_t first_ = 0, count_ = 0;  ///< queries of the tile
  std::span<const float> bounds_;
  std::vector<std::uint32_t> counts_;    ///< how many rows of this training tile each query has within
                                         ///< the radius
  std::vector<std::vector<Key>> lists_;  ///< lists of each query, from all training tiles so far
  std::size_t listed_ = 0;               ///< keys in them
  std::vector<Key> keys_;                ///< as read from the device
  std::vector<float> values_;
};

void RadiusSearch::begin(MatrixView<const float> queries, std::int64_t first, std::span<const float> bounds) {
  first_ = first;
  count_ = queries.rows();
  bounds_ = bounds;
  lists_ = std::vector<std::vector<Key>>(size(count_));
  listed_ = 0;
  counts_.assign(size(count_), 0);
  const Stopwatch upload;
  upload_rows(*state_, workspace_.query_memory(), queries, state_->device->info.query_block, plan_.threads);
  filter_.upload(first, count_);
  {
    const DeviceSession session(*state_);
    write(workspace_.bounds(), bounds.data(), bounds.size_bytes());
    write(workspace_.counts(), counts_.data(), counts_.size() * sizeof(std::uint32_t));
  }
  if (trace_) trace_->seconds["upload"] += upload.seconds();
}

/// Lists the rows within the radius as far as lists have room, and counts how many belong into each.
void RadiusSearch::count_rows(const Tile& tile) {
  spi::Device& device = *state_->device;
  const DeviceSession session(*state_);
  StepTimer timer(device, trace_);
  const spi::Grid<float> distances =
      workspace_.enqueue_distances(session, index_, tile, filter_, count_, timer);
  device.enqueue(workspace_.collect(distances, static_cast<std::uint32_t>(tile.first)));
  timer.after(spi::CollectStep::name);
  timer.collect();
  device.read(workspace_.counts(), 0, counts_.data(), counts_.size() * sizeof(std::uint32_t));
}

/// Takes the keys of lists that were long enough; the others count as empty here.
void RadiusSearch::take_listed(const Tile& tile) {
  std::vector<std::uint32_t> listed = counts_;
  for (std::uint32_t& count : listed)
    if (count > longest_list()) count = 0;
  const std::size_t longest = *std::max_element(listed.begin(), listed.end());
  {
    spi::Device& device = *state_->device;
    const DeviceSession session(*state_);
    const std::size_t bytes = listed.size() * sizeof(std::uint32_t);
    if (longest > 0) {
      write(workspace_.counts(), listed.data(), bytes);
      StepTimer timer(device, trace_);
      device.enqueue(workspace_.rerank(count_, longest, tile.rows_on_device(index_),
                                       static_cast<std::uint32_t>(tile.first)));
      timer.after(spi::RerankStep::name);
      timer.collect();
      keys_.resize(listed.size() * longest);
      const Stopwatch download;
      device.read(workspace_.keys(), 0, keys_.data(), keys_.size() * sizeof(Key));
      if (trace_) trace_->seconds["download"] += download.seconds();
    }
    const std::vector<std::uint32_t> none(listed.size());
    write(workspace_.counts(), none.data(), bytes);
  }
  parallel_for(count_, static_cast<std::int64_t>(keys_.size()), plan_.threads, [&](std::int64_t query) {
    const std::size_t q = size(query);
    std::copy_n(keys_.data() + q * longest, listed[q], lists_[q].end() - listed[q]);
  });
}

/// Takes the keys of queries whose lists were too short, from their distances.
void RadiusSearch::take_dense(const Tile& tile, const std::vector<std::size_t>& queries) {
  const std::size_t t = size(tile.rows), most = std::max<std::size_t>(1, dense_floats / t);
  const spi::Allocation& memory = *workspace_.distances(count_, tile.rows).memory;
  for (std::size_t begin = 0; begin < queries.size(); begin += most) {
    const std::size_t end = std::min(begin + most, queries.size());
    values_.resize((end - begin) * t);
    const Stopwatch download;
    {
      const DeviceSession session(*state_);
      for (std::size_t i = begin, next; i < end; i = next) {  // successive queries are read at once
        next = i + 1;
        while (next < end && queries[next] == queries[next - 1] + 1) ++next;
        session->read(memory, queries[i] * t * sizeof(float), values_.data() + (i - begin) * t,
                      (next - i) * t * sizeof(float));
      }
    }
    if (trace_) trace_->seconds["download"] += download.seconds();
    parallel_for(static_cast<std::int64_t>(end - begin), static_cast<std::int64_t>(values_.size()),
                 plan_.threads, [&](std::int64_t i) {
                   const std::size_t q = queries[begin + size(i)];
                   const float* const values = values_.data() + size(i) * t;
                   Key* to = lists_[q].data() + lists_[q].size() - counts_[q];
                   for (std::size_t j = 0; j < t; ++j)  // a masked distance is NaN, which no bound admits
                     if (values[j] <= bounds_[q])
                       *to++ = make_key(values[j], static_cast<std::uint32_t>(size(tile.first) + j));
                 });
  }
}

/// Makes room for the rows that were counted.
void RadiusSearch::grow_lists(std::int64_t before) {
  for (const std::uint32_t count : counts_) listed_ += count;
  with_room(size(before) + listed_, listed_, [&] {
    for (std::size_t q = 0; q < lists_.size(); ++q) lists_[q].resize(lists_[q].size() + counts_[q]);
  });
}

void RadiusSearch::run_tile(const Tile& tile, std::int64_t before) {
  count_rows(tile);
  grow_lists(before);
  std::vector<std::size_t> crowded;
  for (std::size_t q = 0; q < counts_.size(); ++q)
    if (counts_[q] > longest_list()) crowded.push_back(q);
  take_listed(tile);
  if (!crowded.empty()) take_dense(tile, crowded);
}

template <class Result>
void RadiusSearch::append_to(Result& result) {
  const Stopwatch finishing;
  std::vector<std::int64_t>& first = result.found.first;
  std::int64_t total = first.back();
  for (std::size_t q = 0; q < lists_.size(); ++q) {
    if (plan_.self) {
      const auto own = static_cast<std::uint32_t>(*plan_.self + first_ + static_cast<std::int64_t>(q));
      std::erase_if(lists_[q], [&](Key key) { return row_of(key) == own; });
    }
    total += static_cast<std::int64_t>(lists_[q].size());
    first.push_back(total);
  }
  with_room(size(total), listed_, [&] { result.grow(size(total)); });
  const std::int64_t here = total - first[size(first_)];
  parallel_for(count_, here * work_a_key, plan_.threads, [&](std::int64_t query) {
    std::vector<Key>& list = lists_[size(query)];
    std::sort(list.begin(), list.end());
    std::size_t to = size(first[size(first_ + query)]);
    for (const Key key : list) result.put(index_, to++, key);
  });
  if (!trace_) return;
  trace_->collected += here;
  trace_->seconds["finish"] += finishing.seconds();
}

/// Searches by writing all distances, and puts what is found into `result`, which is Shown or Kept.
///   queries  [m, dims], prepared
template <class Result>
void find_by_distances(const ResidentRows& index, MatrixView<const float> queries,
                       const std::vector<float>& bounds, const SearchOptions& options, Trace* trace,
                       Result& result) {
  const std::int64_t m = queries.rows();
  const Plan plan = plan_within(index, m, options);
  const std::vector<Tile> tiles = train_tiles(index, plan);
  const std::int64_t query_tiles = (m + plan.query_tile - 1) / plan.query_tile;
  if (trace) {
    trace->plan = plan;
    trace->query_tiles = query_tiles;
    trace->train_tiles = static_cast<std::int64_t>(tiles.size());
  }
  result.found = {m, {0}, {}, {}};
  Watcher watcher(options, query_tiles * static_cast<std::int64_t>(tiles.size()));
  watcher.check_stop();
  RadiusSearch search(index, plan, options, trace);
  for (std::int64_t first = 0; first < m; first += plan.query_tile) {
    const std::int64_t count = std::min(plan.query_tile, m - first);
    search.begin(queries.slice(first, count), first, std::span(bounds).subspan(size(first), size(count)));
    for (const Tile& tile : tiles) {
      search.run_tile(tile, result.found.first.back());
      watcher.step_done();
    }
    search.append_to(result);
  }
}

}  // namespace

RadiusNeighbors within_by_distances(const ResidentRows& index, MatrixView<const float> queries,
                                    const std::vector<float>& bounds, const SearchOptions& options,
                                    Trace* trace) {
  Shown result;
  find_by_distances(index, queries, bounds, options, trace, result);
  return std::move(result.found);
}

RadiusKeys within_keys_by_distances(const ResidentRows& index, MatrixView<const float> queries,
                                    const std::vector<float>& bounds, const SearchOptions& options,
                                    Trace* trace) {
  Kept result;
  find_by_distances(index, queries, bounds, options, trace, result);
  return std::move(result.found);
}

}  // namespace kith
