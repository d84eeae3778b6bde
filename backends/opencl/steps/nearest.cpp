#include <algorithm>
#include <bit>

#include "device.hpp"
#include "nearest/shapes.hpp"
#include "steps/metric.hpp"

namespace kith::opencl {
namespace {

enum class Way { rows, low_dim, tiles };

/// Returns which kernel of the groups family is best for a step.
Way way_of(const spi::NearestStep& step) {
  if (step.queries.rows <= spi::small_batch) return Way::rows;
  return step.train.dims <= low_dim_max_dims && step.k <= low_dim_max_k ? Way::low_dim : Way::tiles;
}

}  // namespace

spi::Support Device::check(const spi::NearestStep& step) const {
  spi::Support support{refuse_rows(info, step.queries, step.train), 0};
  if (!support.refusal.empty()) return support;
  if (step.k > info.fused_max_k)
    support.refusal = "k = " + std::to_string(step.k) + ", but the fused step keeps lists of up to " +
                      std::to_string(info.fused_max_k) + "; use distance and select";
  else if (family_ == Family::groups && way_of(step) == Way::tiles)
    support.scratch_bytes = queue_bytes(step);
  return support;
}

void Device::enqueue(const spi::NearestStep& step) {
  if (step.queries.rows == 0) return;
  if (family_ == Family::lanes) return nearest_lanes(step);
  switch (way_of(step)) {
    case Way::rows:
      return nearest_rows(step);
    case Way::low_dim:
      return nearest_low_dim(step);
    case Way::tiles:
      return nearest_tiles(step);
  }
}

void Device::nearest_lanes(const spi::NearestStep& step) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  const Lanes lanes(limits_.vector_width, q, t);
  // A work-item takes as many queries as stay in the cache beside the rows, but every core should have work.
  const std::uint32_t cached = std::max(1u, lanes.chunk * t.block / lanes.pass);
  const std::uint32_t spans = divide_up(4 * std::uint64_t{info.compute_units}, step.lists);
  const std::uint32_t passes = std::min(cached, divide_up(lanes.passes, spans));
  const Range range{{step.lists, divide_up(lanes.passes, passes), 1}, {1, 1, 1}};
  launch("nearest/nearest_lanes.cl", define_metric(step.metric) + lanes.defines, "kith_nearest_lanes", range,
         Sides{q, t}, step.first_row, step.k, step.lists, passes, lanes.chunk, step.out);
}

void Device::nearest_tiles(const spi::NearestStep& step) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  const Range range{{std::size_t{256} * tiles_of(q, 4), step.lists, 1}, {256, 1, 1}};
  launch("nearest/nearest_tiles.cl", define_metric(step.metric) + define("MERGE_AT", tile_merge_at),
         "kith_nearest_tiles", range, Sides{q, t}, step.first_row, step.k, step.lists, step.out,
         buffer_of(step.scratch.memory));
}

void Device::nearest_rows(const spi::NearestStep& step) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  const RowsShape shape(step, limits_.local_memory_bytes);
  const std::uint32_t passes = (q.first + q.rows - 1) / shape.pass - q.first / shape.pass + 1;
  const Range range{{std::size_t{shape.group} * step.lists, passes, 1}, {shape.group, 1, 1}};
  const std::string defines = define_metric(step.metric) + define("PASS", shape.pass) +
                              define("GROUP", shape.group) + define("WIDTH", shape.width) +
                              define("PIECES", shape.pieces) +
                              define("STAGED", shape.staged_bytes > 0 ? 1 : 0);
  launch("nearest/nearest_rows.cl", defines, "kith_nearest_rows", range, Sides{q, t}, step.first_row, step.k,
         step.lists, shape.sizes(), step.out, Local{std::size_t{shape.pass} * shape.list_size * sizeof(Key)},
         Local{std::size_t{shape.pass} * shape.capacity * sizeof(Key)},
         Local{std::size_t{2} * shape.pass * shape.parts * sizeof(cl_uint)},
         Local{std::max(shape.staged_bytes, 4 * sizeof(float))});
}

void Device::nearest_low_dim(const spi::NearestStep& step) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  const Range range{{q.rows, step.lists, 1}, {low_dim_group, 1, 1}};
  const std::string defines = define_metric(step.metric) + define("DIMS", t.dims) +
                              define("LIST", std::max(4u, std::bit_ceil(step.k))) +
                              define("GROUP", low_dim_group) + define("POINTS", 256) + define("QUEUE", 8);
  launch("nearest/nearest_low_dim.cl", defines, "kith_nearest_low_dim", range, Sides{q, t}, step.first_row,
         step.k, step.lists, step.out);
}

}  // namespace kith::opencl
