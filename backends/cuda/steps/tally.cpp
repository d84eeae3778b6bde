#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::TallyStep& step) const {
  if (step.classes == 0) return {"there are no classes; give at least one", 0};
  return {refusal_of_lists(step.nearest.rows, 1), 0};
}

cudaError_t Device::enqueue(const spi::TallyStep& step) {
  Tallying tallying{};
  tallying.nearest = input_of(step.nearest);
  tallying.weights = input_of(step.weights);
  tallying.rows = static_cast<std::uint32_t>(step.nearest.rows);
  tallying.k = static_cast<std::uint32_t>(step.nearest.cols);
  tallying.labels = input_of(step.labels).data;
  tallying.classes = step.classes;
  tallying.sums = matrix_of(step.sums);
  return tally(queue_, tallying);
}

}  // namespace kith::cuda
