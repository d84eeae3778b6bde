#include "exact/exact_tile.hpp"

#include <memory>

#include "device/timing.hpp"

namespace kith {

spi::Step distance_step(const Plan& plan, const spi::RowBlocks& queries, const spi::RowBlocks& train,
                        const spi::Grid<float>& out) {
  return {spi::DistanceStep{plan.problem.metric, queries, train, out}, plan.threads};
}

spi::Step select_step(const Plan& plan, const spi::Grid<float>& distances, std::uint32_t first_row,
                      const TileLists& lists, const spi::Scratch& scratch) {
  return {spi::SelectStep{plan.selector, distances, first_row, static_cast<std::uint32_t>(plan.problem.k),
                          static_cast<std::uint32_t>(plan.lists), lists.select_out, scratch},
          plan.threads};
}

spi::Step nearest_step(const Plan& plan, const spi::RowBlocks& queries, const spi::RowBlocks& train,
                       std::uint32_t first_row, const TileLists& lists, const spi::Scratch& scratch) {
  return {spi::NearestStep{plan.problem.metric, queries, train, first_row,
                           static_cast<std::uint32_t>(plan.problem.k), static_cast<std::uint32_t>(plan.lists),
                           lists.select_out, scratch},
          plan.threads};
}

spi::Step merge_step(const Plan& plan, const TileLists& lists, const spi::Scratch& scratch) {
  return {spi::MergeStep{lists.lists, static_cast<std::uint32_t>(plan.problem.k), lists.merge_in,
                         lists.merge_out, scratch},
          plan.threads};
}

void ExactSearch::find_nearest(std::int64_t count, const Workspace& workspace, Watcher& watcher, Trace* trace,
                               std::function<void()>& overlap) const {
  const std::shared_ptr<Device::State>& state = index_.device.state();
  const spi::RowBlocks queries = workspace.queries(count);
  for (std::int64_t i = 0; i < steps(); ++i) {
    const Tile& tile = tiles_[static_cast<std::size_t>(i)];
    const TileLists lists = workspace.lists(count, i, i + 1 == steps());
    const spi::RowBlocks train = tile.rows_on_device(index_);
    const auto first_row = static_cast<std::uint32_t>(tile.first);
    {
      const DeviceSession session(*state);
      StepTimer timer(*session, trace);
      if (plan_.fused) {
        session->enqueue(nearest_step(plan_, queries, train, first_row, lists, workspace.scratch()));
        timer.after(spi::NearestStep::name);
      } else {
        const spi::Grid<float> distances = workspace.distances(count, tile.rows);
        session->enqueue(distance_step(plan_, queries, train, distances));
        timer.after(spi::DistanceStep::name);
        if (filter_) {
          session->enqueue(filter_.mask(distances, first_row));
          timer.after(spi::MaskStep::name);
        }
        session->enqueue(select_step(plan_, distances, first_row, lists, workspace.scratch()));
        timer.after(spi::SelectStep::name);
      }
      if (lists.merge) {
        session->enqueue(merge_step(plan_, lists, workspace.scratch()));
        timer.after(spi::MergeStep::name);
      }
      timer.collect(overlap);
      if (watcher.watches()) session->finish();
    }
    do_once(overlap);
    watcher.step_done();
  }
}

}  // namespace kith
