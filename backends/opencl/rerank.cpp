#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::RerankStep&) const {
  return {"rerank is not written yet", 0};
}

void Device::enqueue(const spi::RerankStep&) {}

}  // namespace kith::opencl
