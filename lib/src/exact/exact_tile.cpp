#include "exact/exact_tile.hpp"

namespace kith {

spi::Step distance_step(const Plan& plan, const spi::RowBlocks& queries, const spi::RowBlocks& train,
                        const spi::Grid<float>& out) {
  return {spi::DistanceStep{plan.problem.metric, queries, train, out}, plan.threads};
}

spi::Step select_step(const Plan& plan, const spi::Grid<float>& distances, std::uint32_t first_row,
                      const TileLists& lists, const spi::Scratch& scratch) {
  return {spi::SelectStep{plan.selector, distances, first_row, static_cast<std::uint32_t>(plan.problem.k),
                          static_cast<std::uint32_t>(plan.groups), lists.select_out, scratch},
          plan.threads};
}

spi::Step nearest_step(const Plan& plan, const spi::RowBlocks& queries, const spi::RowBlocks& train,
                       std::uint32_t first_row, const TileLists& lists, const spi::Scratch& scratch) {
  return {spi::NearestStep{plan.problem.metric, queries, train, first_row,
                           static_cast<std::uint32_t>(plan.problem.k),
                           static_cast<std::uint32_t>(plan.groups), lists.select_out, scratch},
          plan.threads};
}

spi::Step merge_step(const Plan& plan, const TileLists& lists, const spi::Scratch& scratch) {
  return {spi::MergeStep{lists.lists, static_cast<std::uint32_t>(plan.problem.k), lists.merge_in,
                         lists.merge_out, scratch},
          plan.threads};
}

void run_tile(const ResidentRows& index, const Plan& plan, const Tile& tile, std::int64_t number, bool last,
              std::int64_t count, const Workspace& workspace, const DeviceFilter& filter, StepTimer& timer) {
  spi::Device& device = *index.device.state()->device;
  const TileLists lists = workspace.lists(count, number, last);
  const spi::RowBlocks queries = workspace.queries(count), train = tile.rows_on_device(index);
  const auto first_row = static_cast<std::uint32_t>(tile.first);
  if (plan.fused) {
    device.enqueue(nearest_step(plan, queries, train, first_row, lists, workspace.scratch()));
    timer.after(spi::NearestStep::name);
  } else {
    const spi::Grid<float> distances = workspace.distances(count, tile.rows);
    device.enqueue(distance_step(plan, queries, train, distances));
    timer.after(spi::DistanceStep::name);
    if (filter) {
      device.enqueue(filter.mask(distances, first_row));
      timer.after(spi::MaskStep::name);
    }
    device.enqueue(select_step(plan, distances, first_row, lists, workspace.scratch()));
    timer.after(spi::SelectStep::name);
  }
  if (!lists.merge) return;
  device.enqueue(merge_step(plan, lists, workspace.scratch()));
  timer.after(spi::MergeStep::name);
}

}  // namespace kith
