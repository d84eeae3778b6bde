#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::MaskStep&) const {
  return {"this device has no such step yet", 0};
}

void Device::enqueue(const spi::MaskStep&) {}

}  // namespace kith::opencl
