#include <algorithm>

#include "plan_rules.hpp"

namespace kith {

Choice choose_gpu(const DeviceInfo& device, const Problem& problem, const PlanOptions&) {
  Choice choice;
  choice.selector = problem.k <= 2048 ? Selector::threshold : Selector::radix;
  choice.fused = static_cast<std::uint64_t>(problem.k) <= device.fused_max_k;
  choice.reason = problem.k <= 2048 ? "k is small enough for a buffer in local memory" : "k is large";
  choice.query_tile = std::min<std::int64_t>(problem.m, 4096);
  choice.train_tile = problem.n;
  return choice;
}

}  // namespace kith
