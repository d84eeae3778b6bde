#include "kith/spi.hpp"

#include "device/device_state.hpp"

namespace kith::spi {

// Out of line, so that their type information lives in libkith.so alone.
Allocation::~Allocation() = default;
HostMemory::~HostMemory() = default;
Device::~Device() = default;
Backend::~Backend() = default;

void Device::hold() {}
void Device::let_go() {}

std::unique_ptr<HostMemory> Device::allocate_host(std::size_t) {
  return nullptr;
}

void with_device(const kith::Device& device, const std::function<void(Device&)>& body) {
  kith::Device::State& state = *device.state();
  const DeviceSession session(state);
  body(*session);
}

}  // namespace kith::spi
