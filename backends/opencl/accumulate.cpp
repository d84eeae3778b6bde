#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::AccumulateStep&) const {
  return {"this device has no such step yet", 0};
}

void Device::enqueue(const spi::AccumulateStep&) {}

}  // namespace kith::opencl
