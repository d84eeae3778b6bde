#include "steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::PrepareStep&) const {
  return {"prepare is not written yet", 0};
}

cudaError_t Device::enqueue(const spi::PrepareStep&) {
  return cudaErrorNotSupported;
}

}  // namespace kith::cuda
