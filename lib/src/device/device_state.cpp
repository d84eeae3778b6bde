#include "device/device_state.hpp"

#include <algorithm>
#include <numeric>

#include "base/float_guard.hpp"
#include "kith/error.hpp"

namespace kith {
namespace {

// More blocks than one search and the preparation of rows use at once. Freeing a block makes a device wait
// for all its work and for pending copies.
constexpr std::size_t most_spares = 64;
constexpr std::size_t small_block = std::size_t{1} << 24;  // smaller blocks may be twice as large as needed
constexpr std::size_t spare_share = 16;                    // spares take at most 1/16 of the device's memory

/// All handles of this process. A handle keeps its entry until it is destroyed.
struct Handles {
  HostMutex mutex;
  std::vector<std::weak_ptr<Device::State>> places;
};

// It is never destroyed: a host program may keep a handle in a static variable.
Handles& handles() {
  static Handles& all = *new Handles;
  return all;
}

bool is_same_card(const DeviceInfo& a, const DeviceInfo& b) {
  return a.spec == b.spec || (!a.pci.empty() && a.pci == b.pci);
}

/// Frees all blocks of a list and returns whether there were any. Calls the driver outside the lock.
template <class Block>
bool free_all(Device::State& state, std::vector<std::unique_ptr<Block>>& spare) {
  std::vector<std::unique_ptr<Block>> blocks;
  {
    const std::lock_guard lock(state.spares_mutex);
    blocks.swap(spare);
  }
  const FloatGuard guard;
  const bool any = !blocks.empty();
  blocks.clear();
  return any;
}

/// Returns the oldest spare block if there are too many, because newer ones are more likely to fit the next
/// requests. Otherwise returns null.
std::unique_ptr<spi::Allocation> take_surplus(Device::State& state) {
  const std::lock_guard lock(state.spares_mutex);
  auto& spare = state.spare;
  const std::size_t all =
      std::accumulate(spare.begin(), spare.end(), std::size_t{0},
                      [](std::size_t sum, const auto& block) { return sum + block->bytes; });
  if (spare.size() <= most_spares && all <= state.info.memory_bytes / spare_share) return nullptr;
  std::unique_ptr<spi::Allocation> found = std::move(spare.front());
  spare.erase(spare.begin());
  return found;
}

/// Calls free(state) for every handle whose driver may be called. Returns whether any call freed something.
/// Allocates nothing.
template <class Free>
bool give_back_of_all(const Free& free) {
  bool any = false;
  for (std::size_t i = 0;; ++i) {
    std::shared_ptr<Device::State> state;
    {
      const std::lock_guard lock(handles().mutex);
      if (i == handles().places.size()) return any;
      state = handles().places[i].lock();
    }
    if (state && !state->mutex.is_lost()) any |= free(*state);
  }
}

}  // namespace

bool spi::give_back(const DeviceInfo& device) {
  return give_back_of_all([&](kith::Device::State& state) {
    if (!is_same_card(state.info, device)) return false;
    const bool host = free_all(state, state.spare_host);
    return free_all(state, state.spare) || host;
  });
}

bool give_back_locked() {
  return give_back_of_all([](Device::State& state) { return free_all(state, state.spare_host); });
}

std::shared_ptr<Device::State> Device::State::make(std::unique_ptr<spi::Device> opened) {
  auto state = std::make_shared<State>(std::move(opened));
  const std::lock_guard lock(handles().mutex);
  auto& places = handles().places;
  const auto gone = std::find_if(places.begin(), places.end(), [](const auto& p) { return p.expired(); });
  if (gone != places.end())
    *gone = state;
  else
    places.push_back(state);
  return state;
}

DeviceMutex::DeviceMutex(const DeviceInfo& info)
    : spec_(info.spec), survives_fork_(info.profile.host_threads) {}

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
  const FloatGuard guard;  // drivers also compute when they are closed
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
  const DeviceSession session(*state_);
  bytes = std::max<std::size_t>(bytes, 1);
  memory_ = take_spare(*state_, state_->spare, bytes, bytes <= small_block ? bytes : bytes / 8);
  if (!memory_) memory_ = spi::retried(state_->info, [&] { return session->allocate(bytes); });
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
  const DeviceSession session(*state_);
  if (memory_->bytes <= state_->info.memory_bytes / spare_share) try {
      const std::lock_guard spares(state_->spares_mutex);
      state_->spare.push_back(std::move(memory_));
    } catch (...) {  // if there is no memory for the pointer, the block itself is freed
    }
  memory_.reset();
  while (take_surplus(*state_)) {
  }
}

}  // namespace kith
