#include "kith/spi.hpp"

#include "device/device_state.hpp"
#include "kith/error.hpp"

namespace kith::spi {

// These are defined here, so that only libkith.so has their type information.
Allocation::~Allocation() = default;
HostMemory::~HostMemory() = default;
CopyQueue::~CopyQueue() = default;
Device::~Device() = default;
Backend::~Backend() = default;

void Device::write_later(Allocation& to, std::size_t offset, const void* from, std::size_t bytes) {
  write(to, offset, from, bytes);
}

void Device::read_pieces(std::span<const Piece> pieces) {
  for (const Piece& piece : pieces) read(*piece.from, piece.offset, piece.to, piece.bytes);
}

void Device::hold() {}
void Device::let_go() {}

ProgramCounts Device::programs() const {
  return {};
}

std::unique_ptr<HostMemory> Device::allocate_host(std::size_t) {
  return nullptr;
}

std::unique_ptr<CopyQueue> Device::copy_queue() {
  return nullptr;
}

bool Device::is_locked(const void*, std::size_t) const {
  return false;
}

std::unique_ptr<Allocation> Device::borrow(const CallersMemory&) {
  throw Error(Errc::unsupported, info.spec + " takes memory of the host alone; copy them to the host");
}

std::unique_ptr<Device> Backend::adopt(const CallersDevice&) {
  throw Error(Errc::unsupported,
              "adopt_device: this back end opens its devices itself; open one by its name, open_device()");
}

void with_device(const kith::Device& device, const std::function<void(Device&)>& body) {
  kith::Device::State& state = *device.state();
  const DeviceSession session(state);
  body(*session);
}

}  // namespace kith::spi
