#include "device.hpp"
#include "steps/propose/proposer.hpp"

namespace kith::opencl {
namespace {

/// Returns quantized rows as blocks, which prepare_dot() writes.
spi::RowBlocks blocks_of(const spi::Grid<float>& rows, std::uint32_t block) {
  return {rows.memory, static_cast<std::uint32_t>(rows.first), static_cast<std::uint32_t>(rows.rows),
          static_cast<std::uint32_t>(rows.cols), block};
}

}  // namespace

/// Runs collect_dot.cl or collect_dot_lanes.cl.
void Device::collect_dot(const spi::CollectStep& step) {
  const spi::RowBlocks q = blocks_of(step.queries.rows, info.query_block),
                       t = blocks_of(step.train.rows, info.train_block);
  const std::size_t places = places_of(step);
  const std::uint32_t tiles = divide_up(places, spi::quantized_block_rows);
  const auto run = [&](const char* source, const char* name, const Range& range, const std::string& defines,
                       const auto&... shape) {
    launch_listing(step.out, step.bounds, source, define("METRIC", "negative_dot") + defines, name, range,
                   Sides{q, t}, shape..., visits_of(step), buffer_of(step.scratch.memory), cl_ulong{places},
                   step.threshold, step.first_row);
  };
  if (family_ == Family::lanes) {
    const Lanes lanes(limits_.vector_width, q, t);
    const std::uint32_t chunk = divide_up(std::uint64_t{lanes.chunk} * t.block, spi::quantized_block_rows);
    return run("propose/collect_dot_lanes.cl", "kith_collect_dot_lanes",
               Range{{lanes.passes, divide_up(tiles, chunk), 1}, {1, 1, 1}}, lanes.defines, tiles, chunk);
  }
  const std::uint32_t query_tiles = tiles_of(q, 4);
  run("propose/collect_dot.cl", "kith_collect_dot",
      Range{{std::size_t{256} * query_tiles * tiles, 1, 1}, {256, 1, 1}}, "", query_tiles);
}

}  // namespace kith::opencl
