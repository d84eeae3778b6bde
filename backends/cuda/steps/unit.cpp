#include "kith/spi/refusals.hpp"
#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::UnitStep& step) const {
  return {spi::refusal_of_block("rows", step.rows, rows_a_block), 0};
}

cudaError_t Device::enqueue(const spi::UnitStep& step) {
  return step.rows.rows == 0 || step.rows.dims == 0 ? cudaSuccess : unit(queue_, step);
}

}  // namespace kith::cuda
