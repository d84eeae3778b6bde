#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::PruneStep& step) const {
  return {refusal_of_lists(step.lists.rows.rows, 1), 0};
}

cudaError_t Device::enqueue(const spi::PruneStep& step) {
  if (step.lists.rows.rows == 0) return cudaSuccess;
  return prune(queue_, {static_cast<std::uint32_t>(step.lists.rows.rows), input_of(step.theta),
                        bounded_lists_of(step.lists, step.bounds)});
}

}  // namespace kith::cuda
