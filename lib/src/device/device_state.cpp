#include "device/device_state.hpp"

#include <algorithm>

#include "base/float_guard.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

constexpr std::size_t most_spares = 16;
constexpr std::size_t spare_share = 16;  // spares take at most 1/16 of the device's memory

}  // namespace

DeviceMutex::DeviceMutex(const DeviceInfo& info) : spec_(info.spec), survives_fork_(info.backend == "cpu") {}

void DeviceMutex::refuse_if_lost() const {
  if (is_lost())
    throw Error(Errc::unavailable,
                spec_ +
                    ": opened before fork(), and its driver does not work in a forked child; "
                    "open devices after fork(), or start the child as a new program (spawn)");
}

void DeviceMutex::lock() {
  refuse_if_lost();
  survives_fork_ ? of_host_.lock() : of_driver_.lock();
}

void DeviceMutex::unlock() {
  survives_fork_ ? of_host_.unlock() : of_driver_.unlock();
}

Device::State::~State() {
  if (mutex.is_lost()) {
    for (auto& block : spare) static_cast<void>(block.release());
    for (auto& block : spare_host) static_cast<void>(block.release());
    static_cast<void>(device.release());
    return;
  }
  const FloatGuard guard;  // drivers compute when they are closed, too
  spare.clear();
  spare_host.clear();
  device.reset();
}

spi::Support Device::State::check(const spi::Step& step) const {
  mutex.refuse_if_lost();
  return device->check(step);
}

DeviceMemory::DeviceMemory(std::shared_ptr<Device::State> state, std::size_t bytes)
    : state_(std::move(state)) {
  const std::lock_guard lock(state_->mutex);
  const FloatGuard guard;
  bytes = std::max<std::size_t>(bytes, 1);
  memory_ = take_spare(state_->spare, bytes, bytes);
  if (memory_) return;
  try {
    memory_ = state_->device->allocate(bytes);
  } catch (const Error& error) {
    if (error.code() != Errc::out_of_memory || state_->spare.empty()) throw;
    state_->spare.clear();
    memory_ = state_->device->allocate(bytes);
  }
}

DeviceMemory::~DeviceMemory() {
  release();
}

DeviceMemory& DeviceMemory::operator=(DeviceMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  state_ = std::move(other.state_);
  memory_ = std::move(other.memory_);
  return *this;
}

void DeviceMemory::release() noexcept {
  if (!memory_) return;
  if (state_->mutex.is_lost()) {
    static_cast<void>(memory_.release());
    return;
  }
  const std::lock_guard lock(state_->mutex);
  std::size_t kept = memory_->bytes;
  for (const auto& block : state_->spare) kept += block->bytes;
  try {
    if (state_->spare.size() < most_spares && kept <= state_->device->info.memory_bytes / spare_share)
      state_->spare.push_back(std::move(memory_));
  } catch (...) {  // no room for the pointer: then the block itself goes
  }
  memory_.reset();
}

}  // namespace kith
