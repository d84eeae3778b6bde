#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::ScoreStep& step) const {
  if (step.classes == 0) return {"there are no classes; give at least one", 0};
  return {refusal_of_lists(step.nearest.rows, 1), 0};
}

cudaError_t Device::enqueue(const spi::ScoreStep& step) {
  return score(queue_, step);
}

}  // namespace kith::cuda
