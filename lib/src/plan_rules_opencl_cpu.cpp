#include <algorithm>

#include "plan_rules.hpp"

namespace kith {

Choice choose_opencl_cpu(const DeviceInfo& device, const Problem& problem, const PlanOptions&) {
  Choice choice;
  choice.selector = problem.k <= 256 ? Selector::insertion : Selector::radix;
  choice.fused = static_cast<std::uint64_t>(problem.k) <= device.fused_max_k;
  choice.reason = "one list a work-item suits a CPU";
  choice.query_tile = 256;
  choice.train_tile = std::min<std::int64_t>(problem.n, 65536);
  return choice;
}

}  // namespace kith
