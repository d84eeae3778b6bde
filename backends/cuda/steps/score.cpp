#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::ScoreStep& step) const {
  return {refusal_of_lists(step.nearest.rows, 1), 0};
}

cudaError_t Device::enqueue(const spi::ScoreStep& step) {
  return score(queue_, step);
}

}  // namespace kith::cuda
