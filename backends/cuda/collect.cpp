#include "steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::CollectStep&) const {
  return {"collect is not written yet", 0};
}

cudaError_t Device::enqueue(const spi::CollectStep&) {
  return cudaErrorNotSupported;
}

}  // namespace kith::cuda
