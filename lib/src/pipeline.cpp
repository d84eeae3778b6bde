#include "pipeline.hpp"

#include <algorithm>
#include <string>

#include "float_guard.hpp"
#include "kith/error.hpp"
#include "rows.hpp"
#include "timing.hpp"

namespace kith {
namespace {

/// A training tile: rows first .. first + rows - 1, which all lie in one chunk.
struct Tile {
  const Chunk* chunk;
  std::int64_t first, rows;

  spi::RowBlocks row_blocks(const Index::State& index) const {
    return {chunk->memory.get(), static_cast<std::uint32_t>(first - chunk->first),
            static_cast<std::uint32_t>(rows), static_cast<std::uint32_t>(index.dims),
            index.device.info().train_block};
  }
};

std::vector<Tile> train_tiles(const Index::State& index, const Plan& plan) {
  std::vector<Tile> tiles;
  for (const Chunk& chunk : index.chunks)
    for (std::int64_t at = 0; at < chunk.rows; at += plan.train_tile)
      tiles.push_back({&chunk, chunk.first + at, std::min(plan.train_tile, chunk.rows - at)});
  return tiles;
}

/// The most scratch a step of `plan` needs. Throws unsupported when the device refuses one.
std::size_t scratch_of(const spi::Device& device, const Plan& plan) {
  const auto count = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  const std::size_t k = static_cast<std::size_t>(plan.problem.k),
                    groups = static_cast<std::size_t>(plan.groups);
  const std::size_t q = static_cast<std::size_t>(plan.query_tile),
                    t = static_cast<std::size_t>(plan.train_tile);
  const spi::RowBlocks queries{nullptr, 0, count(plan.query_tile), count(plan.problem.dims),
                               device.info.query_block};
  const spi::RowBlocks train{nullptr, 0, count(plan.train_tile), count(plan.problem.dims),
                             device.info.train_block};
  const std::size_t width = groups + (plan.train_tile < plan.problem.n ? 1 : 0);
  TileLists lists;
  lists.select_out = {nullptr, 0, q, groups * k, width * k};
  lists.lists = static_cast<std::uint32_t>(width);
  lists.merge_in = {nullptr, 0, q, width * k, width * k};
  lists.merge_out = {nullptr, 0, q, k, k};
  const spi::Grid<float> distances{nullptr, 0, q, t, t};

  std::vector<spi::Step> steps;
  if (plan.fused) {
    steps.push_back(nearest_step(plan, queries, train, 0, lists, {}));
  } else {
    steps.push_back(distance_step(plan, queries, train, distances));
    steps.push_back(select_step(plan, distances, 0, lists, {}));
  }
  if (width > 1) steps.push_back(merge_step(plan, lists, {}));
  std::size_t most = 0;
  for (const spi::Step& step : steps) {
    const spi::Support support = device.check(step);
    if (!support.refusal.empty())
      throw Error(Errc::unsupported, "search: " + plan.device + ": " + support.refusal);
    most = std::max(most, support.scratch_bytes);
  }
  return most;
}

void run_tile(const Index::State& index, const Plan& plan, const Tile& tile, std::int64_t number, bool last,
              std::int64_t count, const Workspace& workspace, StepTimer& timer) {
  spi::Device& device = *index.device.state()->device;
  const TileLists lists = workspace.lists(count, number, last);
  const spi::RowBlocks queries = workspace.queries(count), train = tile.row_blocks(index);
  const auto first_row = static_cast<std::uint32_t>(tile.first);
  if (plan.fused) {
    device.enqueue(nearest_step(plan, queries, train, first_row, lists, workspace.scratch()));
    timer.after(spi::NearestStep::name);
  } else {
    const spi::Grid<float> distances = workspace.distances(count, tile.rows);
    device.enqueue(distance_step(plan, queries, train, distances));
    timer.after(spi::DistanceStep::name);
    device.enqueue(select_step(plan, distances, first_row, lists, workspace.scratch()));
    timer.after(spi::SelectStep::name);
  }
  if (!lists.merge) return;
  device.enqueue(merge_step(plan, lists, workspace.scratch()));
  timer.after(spi::MergeStep::name);
}

/// Tells the caller how far the search is, and hears whether to go on.
class Watcher {
 public:
  Watcher(const PlanOptions& options, std::int64_t steps) : options_(options), steps_(steps) {}
  bool watches() const { return options_.progress || options_.stop.stop_possible(); }

  void step_done() {
    ++done_;
    if (options_.progress) options_.progress({static_cast<double>(done_) / static_cast<double>(steps_)});
    check_stop();
  }

  void check_stop() const {
    if (options_.stop.stop_requested())
      throw Error(Errc::interrupted, "search: stopped after " + std::to_string(done_) + " of " +
                                         std::to_string(steps_) +
                                         " steps, as was asked; nothing is returned");
  }

 private:
  const PlanOptions& options_;
  std::int64_t steps_, done_ = 0;
};

}  // namespace

Plan plan_search(const Index::State& index, std::int64_t m, std::int64_t k, const PlanOptions& options) {
  const DeviceInfo& device = index.device.info();
  const Problem problem{index.metric, index.rows, m, index.dims, k};
  PlanOptions tighter = options;
  for (;;) {
    Plan plan = make_plan(device, problem, tighter);
    const std::size_t scratch = scratch_of(*index.device.state()->device, plan);
    const std::size_t budget = memory_budget(device, problem, options);
    plan.workspace_bytes += scratch;
    if (plan.workspace_bytes <= budget && scratch <= device.largest_allocation) return plan;
    if (plan.query_tile == 1 && plan.groups == 1)
      throw Error(Errc::out_of_memory, "search: one query takes " + std::to_string(plan.workspace_bytes) +
                                           " bytes on " + plan.device + ", scratch included, but " +
                                           std::to_string(std::min(budget, device.largest_allocation)) +
                                           " are allowed; raise the memory limit or choose a smaller k");
    if (plan.query_tile > 1) {
      tighter.query_tile = (plan.query_tile + 1) / 2;
    } else {
      tighter.groups = (plan.groups + 1) / 2;
    }
  }
}

void run(const Index::State& index, const Plan& plan, const PlanOptions& options,
         MatrixView<const float> queries, Trace* trace, const Take& take) {
  const std::shared_ptr<Device::State>& state = index.device.state();
  const std::int64_t m = queries.rows();
  const std::vector<Tile> tiles = train_tiles(index, plan);
  const std::int64_t query_tiles = (m + plan.query_tile - 1) / plan.query_tile;
  const auto tile_count = static_cast<std::int64_t>(tiles.size());
  Watcher watcher(options, query_tiles * tile_count);
  watcher.check_stop();
  Workspace workspace(state, plan, scratch_of(*state->device, plan));

  for (std::int64_t first = 0; first < m; first += plan.query_tile) {
    const std::int64_t count = std::min(plan.query_tile, m - first);
    const Stopwatch upload;
    upload_rows(*state, workspace.query_memory(), queries.slice(first, count),
                index.device.info().query_block, plan.threads);
    if (trace) trace->seconds["upload"] += upload.seconds();
    for (std::int64_t i = 0; i < tile_count; ++i) {
      {
        const std::lock_guard lock(state->mutex);
        const FloatGuard guard;
        StepTimer timer(*state->device, trace);
        run_tile(index, plan, tiles[static_cast<std::size_t>(i)], i, i + 1 == tile_count, count, workspace,
                 timer);
        timer.collect();
        if (watcher.watches()) state->device->finish();
      }
      watcher.step_done();
    }
    take(workspace, first, count);
  }
  if (trace) {
    trace->query_tiles = query_tiles;
    trace->train_tiles = tile_count;
  }
}

}  // namespace kith
