#include <algorithm>
#include <bit>

#include "device.hpp"

namespace kith::opencl {
namespace {

/// Returns how many work-items share the votes of a query.
std::uint32_t voters(Family family, const Limits& limits, std::uint32_t most) {
  if (family == Family::lanes) return 1;
  return std::min<std::uint32_t>(most, static_cast<std::uint32_t>(std::bit_floor(limits.work_group)));
}

}  // namespace

spi::Support Device::check(const spi::VoteStep&) const {
  return {};
}

void Device::enqueue(const spi::VoteStep& step) {
  if (step.nearest.rows == 0) return;
  switch (step.method) {
    case spi::VoteMethod::atomic:
      return vote_atomic(step);
    case spi::VoteMethod::branch_free:
      return vote_branch_free(step);
    case spi::VoteMethod::automatic:
      // A single work-item would take long for many votes.
      return family_ == Family::groups && step.nearest.cols > 256 ? vote_atomic(step) : vote_plain(step);
  }
}

void Device::vote_plain(const spi::VoteStep& step) {
  const std::size_t items = family_ == Family::lanes ? 1 : 64;
  launch("vote/vote.cl", define("GROUP", 1), "kith_vote", Range{{step.nearest.rows, 1, 1}, {items, 1, 1}},
         step.nearest, static_cast<cl_uint>(step.nearest.rows), static_cast<cl_uint>(step.nearest.cols),
         buffer_of(step.labels.memory), cl_ulong{step.labels.first}, step.classes, step.counts, step.winner);
}

/// Runs a kernel with `items` work-items per query.
template <class... More>
void Device::launch_vote(const spi::VoteStep& step, const std::string& defines, const char* name,
                         std::size_t items, const More&... more) {
  launch("vote/vote.cl", defines, name, Range{{step.nearest.rows * items, 1, 1}, {items, 1, 1}}, step.nearest,
         static_cast<cl_uint>(step.nearest.cols), buffer_of(step.labels.memory), cl_ulong{step.labels.first},
         step.classes, step.counts, step.winner, more...);
}

void Device::vote_atomic(const spi::VoteStep& step) {
  const auto k = static_cast<std::uint32_t>(std::min<std::size_t>(step.nearest.cols, 256));
  const std::uint32_t items = voters(family_, limits_, std::max(32u, std::bit_ceil(k)));
  const std::size_t bytes = step.classes * sizeof(cl_uint);
  const bool local =
      bytes + items * sizeof(cl_ulong) + 64 <= std::min<std::size_t>(limits_.local_memory_bytes, 32768);
  launch_vote(step, define("GROUP", items) + (local ? "" : " -D IN_GLOBAL"), "kith_vote_atomic", items,
              Local{local ? bytes : sizeof(cl_uint)});
}

void Device::vote_branch_free(const spi::VoteStep& step) {
  if (family_ == Family::lanes)
    return launch_vote(step, define("GROUP", 1), "kith_vote_branch_free_lanes", 1);
  const std::uint32_t items = voters(family_, limits_, 64);
  const std::uint32_t side = std::bit_ceil(std::min(step.classes, items));
  launch_vote(step, define("GROUP", items), "kith_vote_branch_free", items, side);
}

}  // namespace kith::opencl
