#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::GroupsStep& step) const {
  std::string refusal = refusal_of_rows("queries", step.queries);
  if (refusal.empty()) refusal = refusal_of_rows("training rows", step.train);
  if (refusal.empty() && step.k > groups_max_k)
    refusal = "k = " + std::to_string(step.k) + ", but a search of many groups keeps lists of up to " +
              std::to_string(groups_max_k) + "; search each group by itself";
  return {refusal, refusal.empty() ? groups_scratch(queue_, step) : 0};
}

cudaError_t Device::enqueue(const spi::GroupsStep& step) {
  return step.queries.rows == 0 ? cudaSuccess : search_groups(queue_, step);
}

}  // namespace kith::cuda
