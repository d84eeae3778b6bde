#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::PruneStep& step) const {
  return {refusal_of_lists(step.lists.rows.rows, 1), 0};
}

cudaError_t Device::enqueue(const spi::PruneStep& step) {
  return step.lists.rows.rows == 0 ? cudaSuccess : prune(queue_, step);
}

}  // namespace kith::cuda
