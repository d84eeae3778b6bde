#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::MaskStep& step) const {
  return {refusal_of_lists(step.distances.rows, mask_pieces(step)), 0};
}

cudaError_t Device::enqueue(const spi::MaskStep& step) {
  return mask(queue_, step);
}

}  // namespace kith::cuda
