#include "steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::RerankStep&) const {
  return {"rerank is not written yet", 0};
}

cudaError_t Device::enqueue(const spi::RerankStep&) {
  return cudaErrorNotSupported;
}

}  // namespace kith::cuda
