// Counts rows within radii by distances.
#include "search/radius/counts.hpp"

#include <algorithm>
#include <vector>

#include "base/numbers.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "kith/error.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "search/lists/trace_sums.hpp"
#include "search/radius/radius.hpp"

namespace kith {
namespace {

/// Runs one count by distances.
class Counting {
 public:
  Counting(const ResidentRows& index, const Plan& plan, std::size_t radii, const SearchOptions& options,
           Trace* trace)
      : index_(index),
        plan_(plan),
        radii_(radii),
        trace_(trace),
        state_(index.device.state()),
        workspace_(state_, plan, radii),
        filter_(state_, plan, options) {}

  /// Begins a query tile, before its training tiles.
  ///   first   number of the tile's first query in the search
  ///   bounds  [1 or queries.rows(), radii]
  void begin(MatrixView<const float> queries, std::int64_t first, MatrixView<const float> bounds) {
    count_ = queries.rows();
    numbers_.assign(size(count_) * radii_, 0);
    std::vector<float> by_radius(numbers_.size());
    for (std::size_t r = 0, i = 0; r < radii_; ++r)
      for (std::int64_t q = 0; q < count_; ++q)
        by_radius[i++] = bounds(bounds.rows() > 1 ? q : 0, static_cast<std::int64_t>(r));
    const Stopwatch upload;
    upload_rows(*state_, workspace_.query_memory(), queries, state_->device->info.query_block, plan_.threads);
    filter_.upload(first, count_);
    const DeviceSession session(*state_);
    session->write(workspace_.bounds(), 0, by_radius.data(), by_radius.size() * sizeof(float));
    session->write(workspace_.counts(), 0, numbers_.data(), numbers_.size() * sizeof(std::uint32_t));
    if (trace_) trace_->seconds["upload"] += upload.seconds();
  }

  /// Adds the rows of a training tile to the counts on the device.
  void run_tile(const Tile& tile) {
    const DeviceSession session(*state_);
    StepTimer timer(*session, trace_);
    const spi::Grid<float> distances =
        workspace_.enqueue_distances(session, index_, tile, filter_, count_, timer);
    for (std::size_t r = 0; r < radii_; ++r)
      session->enqueue(
          workspace_.collect(distances, static_cast<std::uint32_t>(tile.first), r * size(count_)));
    timer.after(spi::CollectStep::name);
    timer.collect();
  }

  /// Returns the counts of the query tile, [queries, radii], after its last training tile.
  std::vector<std::uint32_t> counts() {
    const DeviceSession session(*state_);
    session->read(workspace_.counts(), 0, numbers_.data(), numbers_.size() * sizeof(std::uint32_t));
    std::vector<std::uint32_t> by_query(numbers_.size());
    for (std::size_t r = 0, i = 0; r < radii_; ++r)
      for (std::size_t q = 0; q < size(count_); ++q) by_query[q * radii_ + r] = numbers_[i++];
    return by_query;
  }

 private:
  const ResidentRows& index_;
  const Plan& plan_;
  const std::size_t radii_;
  Trace* const trace_;
  const std::shared_ptr<Device::State>& state_;
  const RadiusWorkspace workspace_;
  const DeviceFilter filter_;
  std::int64_t count_ = 0;              ///< queries of the tile
  std::vector<std::uint32_t> numbers_;  ///< [radii, queries]
};

}  // namespace

void count_by_distances(const ResidentRows& index, const CountRequest& request, Trace* trace) {
  const std::int64_t m = request.search.m(), radii = request.bounds.cols();
  const Plan plan = plan_count(request.where, index, m, radii, request.search.options);
  const std::vector<Tile> tiles = train_tiles(index, plan);
  const std::int64_t query_tiles = divide_up(m, plan.query_tile);
  if (trace) {
    trace->plan = plan;
    trace->query_tiles = query_tiles;
    trace->train_tiles = static_cast<std::int64_t>(tiles.size());
  }
  Watcher watcher(request.search.options, query_tiles * static_cast<std::int64_t>(tiles.size()));
  watcher.check_stop();
  const MatrixView<const float> queries = request.search.queries.rows().on_host();
  Counting counting(index, plan, size(radii), request.search.options, trace);
  for (std::int64_t first = 0; first < m; first += plan.query_tile) {
    const std::int64_t count = std::min(plan.query_tile, m - first);
    counting.begin(queries.slice(first, count), first, request.bounds_of(first, count));
    for (const Tile& tile : tiles) {
      counting.run_tile(tile);
      watcher.step_done();
    }
    const std::vector<std::uint32_t> of_tile = counting.counts();
    request.take(first, {of_tile.data(), count, radii});
  }
}

void count_resident(const ResidentRows& index, const CountRequest& request, Trace* trace) {
  const SearchOptions& options = request.search.options;
  static_cast<void>(
      plan_count(request.where, index, request.search.m(), request.bounds.cols(), options));  // checks them
  if (trace) restart(*trace);
  try {
    if (count_by_boxes(index, request, trace)) return;
  } catch (const Error& error) {  // before anything was counted
    if (options.boxes == true || error.code() != Errc::out_of_memory) throw;
  }
  if (trace) restart(*trace);
  count_by_distances(index, request, trace);
}

}  // namespace kith
