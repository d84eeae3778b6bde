#include <algorithm>

#include "check.hpp"
#include "device.hpp"
#include "metric.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::RerankStep& step) const {
  spi::RowBlocks train = step.train;
  if (train.block == 1 && family_ != Family::lanes) train.block = info.train_block;  // rows in order
  return {refuse_rows(info, step.queries, train), 0};
}

void Device::enqueue(const spi::RerankStep& step) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  const spi::CandidateLists& from = step.candidates;
  if (q.rows == 0 || t.rows == 0 || from.rows.cols == 0) return;
  const bool lanes = family_ == Family::lanes;
  const std::size_t items = lanes ? 1 : 64;
  // Lists are shared where there are too few of them to fill the device.
  const std::size_t groups =
      lanes ? 1
            : std::clamp<std::size_t>(64 * info.compute_units / q.rows, 1, divide_up(from.rows.cols, items));
  const Range range =
      lanes ? Range{{q.rows, 1, 1}, {1, 1, 1}} : Range{{items * groups, q.rows, 1}, {items, 1, 1}};
  const std::string shape = lanes ? define("QUERY_BLOCK", q.block) + define("TRAIN_BLOCK", t.block)
                                  : define("GROUP", items) + (t.block == 1 ? " -D IN_ORDER" : "") +
                                        (t.block == 1 && t.dims % 4 == 0 ? " -D WIDE" : "");
  launch(lanes ? "rerank_lanes.cl" : "rerank.cl", define_metric(step.metric) + shape,
         lanes ? "kith_rerank_lanes" : "kith_rerank", range, buffer_of(q.memory), q.first,
         buffer_of(t.memory), t.first, t.dims, step.first_row, buffer_of(from.rows.memory),
         cl_ulong{from.rows.first}, cl_ulong{from.rows.stride}, static_cast<cl_uint>(from.rows.cols),
         buffer_of(from.counts.memory), cl_ulong{from.counts.first}, cl_ulong{from.counts.stride},
         buffer_of(step.out.memory), cl_ulong{step.out.first}, cl_ulong{step.out.stride});
}

}  // namespace kith::opencl
