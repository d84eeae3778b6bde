#include <algorithm>

#include "plan_rules.hpp"

namespace kith {

Choice choose_cpu(const DeviceInfo& device, const Problem& problem, const PlanOptions& options) {
  const std::int64_t threads = options.threads ? options.threads : device.compute_units;
  Choice choice;
  choice.fused = true;
  choice.reason = "the fused step keeps distances in cache";
  choice.query_tile = 256;
  choice.train_tile = problem.n;
  // With few queries the cores share the training rows instead.
  if (problem.m < 16 * threads)
    choice.groups = std::min<std::int64_t>(4 * threads, std::max<std::int64_t>(1, problem.n / 4096));
  return choice;
}

}  // namespace kith
