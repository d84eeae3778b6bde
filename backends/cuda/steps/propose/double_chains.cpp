#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::DoubleChainsStep&) const {
  return {"this back end computes no chains in double precision; let the host compute them", 0};
}

cudaError_t Device::enqueue(const spi::DoubleChainsStep&) {
  return cudaErrorNotSupported;
}

}  // namespace kith::cuda
