#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::CollectStep&) const {
  return {"collect is not written yet", 0};
}

void Device::enqueue(const spi::CollectStep&) {}

}  // namespace kith::opencl
