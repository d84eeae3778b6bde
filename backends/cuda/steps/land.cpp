#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::LandStep& step) const {
  return {refusal_of_rows("rows", step.out), 0};
}

cudaError_t Device::enqueue(const spi::LandStep& step) {
  if (step.from.rows == 0 || step.out.dims == 0) return cudaSuccess;
  return land(queue_, step);
}

}  // namespace kith::cuda
