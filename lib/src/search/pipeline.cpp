#include "search/pipeline.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>

#include "base/float_guard.hpp"
#include "certified/bounded_search.hpp"
#include "certified/proposal.hpp"
#include "device/timing.hpp"
#include "device/watcher.hpp"
#include "exact/exact_tile.hpp"
#include "kith/error.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"
#include "tiles/tiles.hpp"

namespace kith {
namespace {

/// A search whose candidates are proposed: what it needs beside the Workspace.
struct Proposing {
  std::shared_ptr<const IndexShadow> shadow;
  Proposal proposal;
  float query_scale;

  Proposing(const Index::State& index, const Plan& plan, float scale)
      : shadow(shadow_for(index, plan)), proposal(index.device.state(), plan), query_scale(scale) {}

  /// After the seed: the first bounds.
  void begin(spi::Device& device, const Workspace& workspace, std::int64_t count, StepTimer& timer) const {
    proposal.reset(device, count);
    device.enqueue(proposal.prepare(workspace.queries(count), shadow->centre(), query_scale));
    timer.after(spi::PrepareStep::name);
    device.enqueue(proposal.tighten(workspace.result(count), false, false, workspace.scratch()));
    timer.after(spi::TightenStep::name);
  }

  /// One training tile.
  void run_tile(const Index::State& index, const Tile& tile, std::int64_t count, const Workspace& workspace,
                StepTimer& timer, Trace* trace) const {
    spi::Device& device = *index.device.state()->device;
    const spi::Shadow train = shadow->of(tile.chunk, tile.first - index.chunks[tile.chunk].first, tile.rows);
    const auto first_row = static_cast<std::uint32_t>(tile.first);
    const float unscale = 1 / query_scale / shadow->scale();
    device.enqueue(proposal.collect(count, train, {}, first_row, workspace.scratch(), unscale));
    timer.after(spi::CollectStep::name);
    device.enqueue(proposal.rerank(workspace.queries(count), tile.row_blocks(index), first_row));
    timer.after(spi::RerankStep::name);
    if (trace && trace->time_steps) {
      const std::int64_t listed = proposal.listed(device, count);
      trace->listed += listed;
      trace->collected += listed;
      timer.skip();
    }
    device.enqueue(proposal.tighten(workspace.result(count), false, false, workspace.scratch()));
    timer.after(spi::TightenStep::name);
  }
};

/// Search the queries of a tile whose lists of candidates were too short by the chain alone, and put
/// their keys where those of the tile are.
void search_lost(const Index::State& index, const Plan& plan, const PlanOptions& options,
                 MatrixView<const float> queries, const std::vector<std::int64_t>& lost,
                 const Workspace& workspace, Trace* trace) {
  const auto count = static_cast<std::int64_t>(lost.size());
  const auto k = static_cast<std::size_t>(plan.problem.k);
  std::vector<float> rows;
  for (const std::int64_t q : lost) rows.insert(rows.end(), queries.row(q), queries.row(q) + queries.cols());
  PlanOptions chain_only;
  chain_only.proposer = Proposer::none;
  chain_only.memory_limit = memory_budget(index.device.info(), plan, options);  // the other half
  chain_only.threads = options.threads;
  chain_only.stop = options.stop;
  const Plan chain = plan_search(index, count, plan.problem.k, chain_only);
  const spi::Grid<Key> result = workspace.result(1);
  const std::shared_ptr<Device::State>& state = index.device.state();
  Trace of_lost;
  if (trace) {
    of_lost.time_steps = trace->time_steps;
    of_lost.hold_queue = trace->hold_queue;
  }
  run(index, chain, chain_only, {rows.data(), count, queries.cols()}, 0, trace ? &of_lost : nullptr, {},
      [&](Workspace& found, std::int64_t first, std::int64_t found_count) {
        std::vector<Key> keys(static_cast<std::size_t>(found_count) * k);
        const DeviceSession session(*state);
        session->read(*found.result(found_count).memory, 0, keys.data(), keys.size() * sizeof(Key));
        for (std::int64_t i = 0; i < found_count; ++i) {
          const auto q = static_cast<std::size_t>(lost[static_cast<std::size_t>(first + i)]);
          session->write(*result.memory, q * k * sizeof(Key), keys.data() + static_cast<std::size_t>(i) * k,
                         k * sizeof(Key));
        }
      });
  if (!trace) return;
  for (const auto& [step, seconds] : of_lost.seconds) trace->seconds[step] += seconds;
  trace->device_seconds += of_lost.device_seconds;
  trace->queue_seconds += of_lost.queue_seconds;
}

/// The way that a plan searches a tile of queries: by blocks that are visited, or by tiles of rows.
class TileSearch {
 public:
  TileSearch(const Index::State& index, const Plan& plan, float query_scale, bool empty)
      : index_(index), plan_(plan) {
    const bool proposes = plan.proposer != Proposer::none && !empty;
    if (plan.visit_rows == 0) tiles_ = train_tiles(index, plan);
    if (!proposes) return;
    if (plan.visit_rows > 0)
      bounded_.emplace(index, plan, query_scale);
    else
      proposing_.emplace(index, plan, query_scale);
  }

  /// Of a query tile.
  std::int64_t steps() const {
    return bounded_ ? bounded_->steps() : static_cast<std::int64_t>(tiles_.size());
  }

  /// Returns the queries whose lists of candidates were too short.
  std::vector<std::int64_t> run(MatrixView<const float> queries, Workspace& workspace,
                                const DeviceFilter& filter, Watcher& watcher, Trace* trace,
                                std::function<void()>& meanwhile) {
    if (bounded_) return bounded_->run(queries, workspace, watcher, trace, meanwhile);
    const std::shared_ptr<Device::State>& state = index_.device.state();
    const std::int64_t count = queries.rows();
    std::vector<std::int64_t> lost;
    for (std::int64_t i = 0; i < steps(); ++i) {
      {
        const DeviceSession session(*state);
        StepTimer timer(*session, trace);
        run_step(i, count, workspace, filter, timer, trace);
        timer.collect(meanwhile);
        if (proposing_ && i > 0 && i + 1 == steps()) lost = proposing_->proposal.lost(*session, count);
        if (watcher.watches()) session->finish();
      }
      do_once(meanwhile);
      watcher.step_done();
    }
    return lost;
  }

 private:
  void run_step(std::int64_t i, std::int64_t count, const Workspace& workspace, const DeviceFilter& filter,
                StepTimer& timer, Trace* trace) const {
    const Tile& tile = tiles_[static_cast<std::size_t>(i)];
    if (proposing_ && i > 0) return proposing_->run_tile(index_, tile, count, workspace, timer, trace);
    const bool last = i + 1 == steps();
    run_tile(index_, plan_, tile, i, last || proposing_, count, workspace, filter, timer);
    if (proposing_ && !last) proposing_->begin(*index_.device.state()->device, workspace, count, timer);
  }

  const Index::State& index_;
  const Plan& plan_;
  std::vector<Tile> tiles_;
  std::optional<Proposing> proposing_;
  std::optional<BoundedSearch> bounded_;
};

/// 0, 1, ..., count - 1: a tile of which every query is left to the chain.
std::vector<std::int64_t> all_queries(std::int64_t count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// What queries are multiplied by in their shadows: in those of fp16 not by more than training rows, so that
/// half norms of rows stay comparable with products.
float query_scale_of(const Index::State& index, const Plan& plan, MatrixView<const float> queries,
                     float largest_query) {
  if (plan.proposer == Proposer::none || queries.rows() == 0) return 1;
  const FloatGuard guard;
  if (plan.proposer == Proposer::int8) return scale_of(plan.proposer, reach_of(queries, index.centre));
  const float scale = scale_of(plan.proposer, largest_centred(largest_query, index.centre));
  return plan.proposer == Proposer::fp16 ? std::min(scale, shadow_for(index, plan)->scale()) : scale;
}

}  // namespace

void run(const Index::State& index, const Plan& plan, const PlanOptions& options,
         MatrixView<const float> queries, float largest_query, Trace* trace, std::function<void()> meanwhile,
         const Take& take) {
  const std::shared_ptr<Device::State>& state = index.device.state();
  const std::int64_t m = queries.rows(), query_tiles = (m + plan.query_tile - 1) / plan.query_tile;
  Workspace workspace(state, plan, scratch_of(*state, plan));
  const DeviceFilter filter(state, plan, options);
  if (plan.proposer != Proposer::none && m > 0) shadow_for(index, plan, trace);
  TileSearch search(index, plan, query_scale_of(index, plan, queries, largest_query), m == 0);
  Watcher watcher(options, query_tiles * search.steps());
  watcher.check_stop();

  bool gives_way = false;            // a proposer that kith chose itself, where most lists overflow
  std::int64_t asked = 0, left = 0;  // queries it was asked for, and left to the chain
  for (std::int64_t first = 0; first < m; first += plan.query_tile) {
    const std::int64_t count = std::min(plan.query_tile, m - first);
    const MatrixView<const float> of_tile = queries.slice(first, count);
    const Stopwatch upload;
    upload_rows(*state, workspace.query_memory(), of_tile, index.device.info().query_block, plan.threads);
    filter.upload(first, count);
    if (trace) trace->seconds["upload"] += upload.seconds();
    const std::vector<std::int64_t> lost =
        gives_way ? all_queries(count) : search.run(of_tile, workspace, filter, watcher, trace, meanwhile);
    if (gives_way) watcher.steps_done(search.steps());
    const auto many = static_cast<std::int64_t>(lost.size());
    asked += gives_way ? 0 : count;
    left += gives_way ? 0 : many;
    gives_way = options.proposer == Proposer::automatic && 2 * many > count;
    if (many > 0) search_lost(index, plan, options, of_tile, lost, workspace, trace);
    if (trace) trace->fallbacks += many;
    take(workspace, first, count);
  }
  do_once(meanwhile);  // there are no queries
  constexpr std::int64_t enough_to_tell = 16;
  const bool own_way = options.proposer == Proposer::automatic && options.train_tile == 0;
  if (own_way && left >= enough_to_tell && 2 * left > asked)
    shadow_for(index, plan)->tell_overwhelms(plan.problem.k);
  if (trace) {
    trace->query_tiles = query_tiles;
    trace->train_tiles = search.steps();
  }
}

}  // namespace kith
