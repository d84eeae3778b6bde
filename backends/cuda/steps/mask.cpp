#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::MaskStep& step) const {
  return {refusal_of_lists(step.distances.rows, mask_pieces(step.first_row, step.distances.cols)), 0};
}

cudaError_t Device::enqueue(const spi::MaskStep& step) {
  const Matrix<float> distances = matrix_of(step.distances);
  Masking masking{};
  masking.filter = input_of(step.filter);
  if (step.filter.rows == 1) masking.filter.stride = 0;  // the same row for all
  masking.distances = {reinterpret_cast<std::uint32_t*>(distances.data), distances.stride};
  masking.rows = step.distances.rows;
  masking.columns = step.distances.cols;
  masking.first_row = step.first_row;
  masking.masked = spi::masked_bits;
  return mask(queue_, masking);
}

}  // namespace kith::cuda
