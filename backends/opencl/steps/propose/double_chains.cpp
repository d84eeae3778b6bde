#include "device.hpp"

namespace kith::opencl {

spi::Support Device::check(const spi::DoubleChainsStep&) const {
  return {"this back end computes no chains in double precision; let the host compute them", 0};
}

void Device::enqueue(const spi::DoubleChainsStep&) {}

}  // namespace kith::opencl
