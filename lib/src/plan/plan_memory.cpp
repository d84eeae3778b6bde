#include "plan/plan_memory.hpp"

#include <algorithm>
#include <string>

#include "boxes/boxes_rules.hpp"
#include "kith/error.hpp"
#include "kith/key.hpp"
#include "plan/proposal_sizes.hpp"
#include "rows/row_filter.hpp"
#include "rows/rows.hpp"

namespace kith {

std::int64_t chain_tile(const Plan& plan) {
  return plan.proposer == Proposer::none && !plan.boxes ? plan.train_tile : 0;
}

bool searches_in_one_tile(const Plan& plan) {
  return plan.proposer != Proposer::none || plan.boxes || plan.train_tile >= plan.problem.n;
}

std::size_t WorkspaceSizes::largest() const {
  return std::max({queries, distances, lists, result, filter, walks});
}

WorkspaceSizes workspace_sizes(const DeviceInfo& device, const Plan& plan) {
  const auto size = [](std::int64_t value) { return static_cast<std::size_t>(value); };
  const std::size_t q = size(plan.query_tile), k = size(plan.problem.k);
  const bool one_tile = searches_in_one_tile(plan);
  WorkspaceSizes sizes;
  sizes.queries = packed_bytes(plan.query_tile, plan.problem.dims, device.query_block);
  sizes.distances = plan.fused ? 0 : q * size(chain_tile(plan)) * sizeof(float);
  sizes.lists = q * (size(plan.lists) + (one_tile ? 0 : 1)) * k * sizeof(Key);
  sizes.list_blocks = one_tile ? (plan.lists > 1 ? 1 : 0) : 2;
  sizes.result = q * k * sizeof(Key);
  sizes.filter = filter_bytes(plan);
  sizes.walks = plan.boxes ? q * sizeof(std::uint32_t) : 0;
  return sizes;
}

std::size_t memory_budget(const DeviceInfo& device, const Plan& plan, const SearchOptions& options) {
  const Problem& problem = plan.problem;
  const bool proposes = plan.proposer != Proposer::none;
  std::size_t rows = packed_bytes(problem.n, problem.dims, device.train_block);
  if (proposes) rows += quantized_bytes(plan.proposer, problem.n, problem.dims) + plan.row_copy_bytes;
  if (plan.boxes) rows += boxes_bytes(problem.n, problem.dims);
  const std::size_t free = device.memory_bytes > rows ? (device.memory_bytes - rows) / 2 : 0;
  const std::size_t budget = options.memory_limit ? options.memory_limit : free;
  // Queries left to the chain are searched while the first search (by a proposer, by boxes, or for more
  // neighbours) still holds its memory.
  return proposes || plan.boxes || plan.struck ? budget / 2 : budget;
}

void fit_memory(const DeviceInfo& device, const SearchOptions& options, Plan& plan) {
  const std::size_t budget = memory_budget(device, plan, options);
  for (;;) {
    const WorkspaceSizes sizes = workspace_sizes(device, plan);
    const ProposalSizes proposal(plan);
    plan.workspace_bytes = sizes.total() + proposal.total();
    const std::size_t largest = std::max(sizes.largest(), proposal.largest());
    if (plan.workspace_bytes <= budget && largest <= device.largest_allocation) return;
    // Fewer queries per step cost least, then fewer lists, then shorter training tiles.
    if (plan.query_tile > 16) {
      plan.query_tile = (plan.query_tile + 1) / 2;
    } else if (plan.lists > 1) {
      plan.lists = (plan.lists + 1) / 2;
    } else if (plan.query_tile > 1) {
      plan.query_tile = (plan.query_tile + 1) / 2;
    } else if (plan.train_tile > 1 && !plan.fused && !plan.boxes && plan.proposer == Proposer::none) {
      plan.train_tile = (plan.train_tile + 1) / 2;
    } else {
      throw Error(Errc::out_of_memory, "search: one query takes " + std::to_string(plan.workspace_bytes) +
                                           " bytes on " + plan.device + ", but " +
                                           std::to_string(std::min(budget, device.largest_allocation)) +
                                           " are allowed; raise the memory limit or choose a smaller k");
    }
  }
}

}  // namespace kith
