#include <algorithm>

#include "device.hpp"
#include "steps/metric.hpp"

namespace kith::opencl {
namespace {

constexpr std::uint32_t most_run = 4;  // queries that a work-item of distance_sums.cl takes

}  // namespace

spi::Support Device::check(const spi::DistanceStep& step) const {
  return {refuse_rows(info, step.queries, step.train), 0};
}

void Device::enqueue(const spi::DistanceStep& step) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  if (q.rows == 0 || t.rows == 0) return;
  const std::string metric = define_metric(step.metric) + (t.mixed ? " -D MIXED" : "");
  if (is_of_sums(step.metric)) {
    constexpr std::size_t group = 64;  // distance_sums.cl
    const std::uint32_t run = q.rows < most_run ? 1 : most_run;
    const std::size_t groups = std::size_t{divide_up(q.rows, run)} * divide_up(t.rows, group);
    return launch("distance/distance_sums.cl",
                  metric + (compares_bits(step.metric) ? " -D BITS" : "") + define("QUERY_BLOCK", q.block) +
                      define("TRAIN_BLOCK", t.block) + define("RUN", run),
                  "kith_distance_sums", Range{{groups * group, 1, 1}, {group, 1, 1}}, Sides{q, t},
                  buffer_or_none(t.terms), step.summed(), step.out);
  }
  if (t.terms) {
    constexpr std::size_t group = 32;
    return launch("distance/distance_periodic.cl",
                  metric + define("QUERY_BLOCK", q.block) + define("TRAIN_BLOCK", t.block),
                  "kith_distance_periodic", Range{{t.rows, q.rows, 1}, {group, 1, 1}}, Sides{q, t},
                  buffer_of(t.terms), step.out);
  }
  if (family_ == Family::lanes) {
    const Lanes lanes(limits_.vector_width, q, t);
    const Range range{{lanes.passes, divide_up(tiles_of(t, 1), lanes.chunk), 1}, {1, 1, 1}};
    launch("distance/distance_lanes.cl", metric + lanes.defines, "kith_distance_lanes", range, Sides{q, t},
           lanes.chunk, step.out);
    return;
  }
  const Range range{{std::size_t{256} * tiles_of(q, 4), tiles_of(t, 4), 1}, {256, 1, 1}};
  launch("distance/distance.cl", metric, "kith_distance", range, Sides{q, t}, step.out);
}

}  // namespace kith::opencl
