#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::PrepareStep&) const {
  return {"prepare is not written yet", 0};
}

void Device::enqueue(const spi::PrepareStep&) {}

}  // namespace kith::opencl
