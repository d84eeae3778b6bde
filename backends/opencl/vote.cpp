#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::VoteStep& step) const {
  if (step.classes == 0) return {"there are no classes; give at least one", 0};
  return {};
}

void Device::enqueue(const spi::VoteStep& step) {
  if (step.nearest.rows == 0) return;
  const std::size_t items = family_ == Family::lanes ? 1 : 64;
  launch("vote.cl", "", "kith_vote", Range{{step.nearest.rows, 1, 1}, {items, 1, 1}},
         buffer_of(step.nearest.memory), cl_ulong{step.nearest.first}, cl_ulong{step.nearest.stride},
         static_cast<cl_uint>(step.nearest.rows), static_cast<cl_uint>(step.nearest.cols),
         buffer_of(step.labels.memory), cl_ulong{step.labels.first}, step.classes,
         buffer_of(step.counts.memory), cl_ulong{step.counts.first}, cl_ulong{step.counts.stride},
         buffer_of(step.winner.memory), cl_ulong{step.winner.first}, cl_ulong{step.winner.stride});
}

}  // namespace kith::opencl
