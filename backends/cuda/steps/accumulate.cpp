#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::AccumulateStep& step) const {
  if (step.classes == 0) return {"there are no classes; give at least one", 0};
  return {refusal_of_lists(step.distances.rows, 1), 0};
}

cudaError_t Device::enqueue(const spi::AccumulateStep& step) {
  Accumulation accumulation{};
  accumulation.distances = input_of(step.distances);
  accumulation.rows = step.distances.rows;
  accumulation.columns = step.distances.cols;
  accumulation.labels = input_of(step.labels).data;
  accumulation.classes = step.classes;
  accumulation.smallest = matrix_of(step.smallest);
  accumulation.high = matrix_of(step.high);
  accumulation.low = matrix_of(step.low);
  return accumulate(queue_, accumulation);
}

}  // namespace kith::cuda
