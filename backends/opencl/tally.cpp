#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::TallyStep&) const {
  return {"this device has no such step yet", 0};
}

void Device::enqueue(const spi::TallyStep&) {}

}  // namespace kith::opencl
