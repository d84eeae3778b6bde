// The state that copies of a Device share: the open device, its lock, and memory kept for the next search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/float_guard.hpp"
#include "host/fork_gate.hpp"
#include "kith/device.hpp"
#include "kith/spi.hpp"

namespace kith {

/// Locks a device. The lock of a CPU also works in a forked child; other drivers do not work there, so that
/// lock() throws.
class DeviceMutex {
 public:
  explicit DeviceMutex(const DeviceInfo& info);
  /// Throws unavailable: the device was opened before fork().
  void lock();
  void unlock();
  /// Throws what lock() throws, without locking.
  void refuse_if_lost() const;
  /// Returns whether the device was opened before fork(). If so, its driver must not be called any more, not
  /// even to free memory.
  bool is_lost() const { return !survives_fork_ && fork_count() != opened_at_; }

 private:
  const std::string spec_;
  const bool survives_fork_;
  const std::uint64_t opened_at_ = fork_count();
  HostMutex of_host_;
  std::mutex of_driver_;  // not a HostMutex: drivers fork, which fork_gate.hpp forbids while one is locked
};

struct Device::State {
  explicit State(std::unique_ptr<spi::Device> opened)
      : info(opened->info), mutex(info), device(std::move(opened)) {}
  ~State();
  /// Makes a state whose spare blocks are freed when its card runs out of memory.
  static std::shared_ptr<State> make(std::unique_ptr<spi::Device> opened);

  /// Calls spi::Device::check(). Throws unavailable: the device was opened before fork().
  spi::Support check(const spi::Step& step) const;

  DeviceInfo info;                   ///< the info of the device, with the measurements made on it
  std::vector<Device> members = {};  ///< the members of a set (device_set.hpp); empty for a single device

  DeviceMutex mutex;  ///< guards every call of `device`
  std::unique_ptr<spi::Device> device;
  HostMutex spares_mutex;  ///< guards the two lists; not held while a driver is called
  std::vector<std::unique_ptr<spi::Allocation>> spare;       ///< freed blocks for reuse
  std::vector<std::unique_ptr<spi::HostMemory>> spare_host;  ///< freed blocks of HostBuffer, for reuse
  /// Why a proposer cannot be used; empty: it can. The key is the proposer, and the columns and queries of
  /// the test (proposer_check.cpp).
  std::map<std::tuple<Proposer, std::uint32_t, std::uint32_t>, std::string> proposer_refusals;
  /// Why a selector cannot be used (selector_check.cpp); empty: it can.
  std::map<Selector, std::string> selector_refusals;
  /// Why a metric, with these terms, cannot be searched by boxes (boxes_check.cpp); empty: it can.
  std::map<std::pair<Metric, Terms>, std::string> boxes_refusals;
  /// Why distances by terms of columns cannot be computed (terms_check.cpp); empty: they can.
  std::map<std::pair<Metric, Terms>, std::string> terms_refusals;
  /// Why distances by a metric of two sums cannot be computed (sums_check.cpp); empty: they can.
  std::map<Metric, std::string> sums_refusals;
  /// Why the device cannot divide rows by their norms (unit_check.cpp), after the test; empty: it can.
  std::optional<std::string> unit_refusal;
  /// Why the device cannot compute chains in double precision (double_check.cpp); likewise.
  std::optional<std::string> doubles_refusal;
  std::optional<double> byte_speed;  ///< set when it is measured (byte_speed.hpp)
  HostMutex speeds_mutex;
  std::vector<double> speeds = {};  ///< speeds of members, once measured (member_speeds.hpp)
};

/// Locks a device for its lifetime, and sets the floating-point environment of docs/contract.md, section 7.
class DeviceSession {
 public:
  /// Throws unavailable: the device was opened before fork().
  explicit DeviceSession(Device::State& state) : lock_(state.mutex), device_(*state.device) {}
  spi::Device* operator->() const { return &device_; }
  spi::Device& operator*() const { return device_; }

 private:
  const std::lock_guard<DeviceMutex> lock_;
  const FloatGuard guard_;
  spi::Device& device_;
};

/// Returns the smallest spare block that holds `bytes` and wastes at most `waste`; null if there is none.
template <class Block>
std::unique_ptr<Block> take_spare(Device::State& state, std::vector<std::unique_ptr<Block>>& spare,
                                  std::size_t bytes, std::size_t waste) {
  const std::lock_guard lock(state.spares_mutex);
  auto best = spare.end();
  for (auto it = spare.begin(); it != spare.end(); ++it) {
    const std::size_t size = (*it)->bytes;
    if (size >= bytes && size - bytes <= waste && (best == spare.end() || size < (*best)->bytes)) best = it;
  }
  if (best == spare.end()) return nullptr;
  std::unique_ptr<Block> found = std::move(*best);
  spare.erase(best);
  return found;
}

/// Frees locked host memory of all cards, as spi::give_back() does, because cards share that memory.
bool give_back_locked();

/// Device memory of a search or an Index. Freed blocks are kept in the device's spare list, so that repeated
/// searches allocate nothing. Its constructor and destructor lock the device.
class DeviceMemory {
 public:
  DeviceMemory() = default;
  /// Throws out_of_memory.
  DeviceMemory(std::shared_ptr<Device::State> state, std::size_t bytes);
  ~DeviceMemory();
  DeviceMemory(DeviceMemory&& other) noexcept = default;
  DeviceMemory& operator=(DeviceMemory&& other) noexcept;

  spi::Allocation* get() const { return memory_.get(); }
  explicit operator bool() const { return memory_ != nullptr; }

 private:
  void release() noexcept;

  std::shared_ptr<Device::State> state_;
  std::unique_ptr<spi::Allocation> memory_;
};

/// Returns a copy of `values` on the device. Locks the device. Throws out_of_memory.
template <class T>
DeviceMemory uploaded(const std::shared_ptr<Device::State>& state, const std::vector<T>& values) {
  DeviceMemory memory(state, values.size() * sizeof(T));
  const DeviceSession session(*state);
  session->write(*memory.get(), 0, values.data(), values.size() * sizeof(T));
  return memory;
}

}  // namespace kith
