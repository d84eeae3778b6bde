// Sets of devices. A device may occur several times in a set.
#pragma once

#include <random>

#include "common/device.hpp"
#include "device/device_set.hpp"
#include "device/device_state.hpp"
#include "kith/index.hpp"

namespace kith::tests {

/// Returns the device under test; if it is a set, its first member.
inline const Device& one_device() {
  const std::vector<Device>& members = device().state()->members;
  return members.empty() ? device() : members.front();
}

/// Returns a set of `count` >= 2 members, taken in turn from the members of the device under test, or from it
/// and the CPU.
inline Device set_of(std::size_t count) {
  static const Device cpu = open_device("cpu");
  std::vector<Device> from = device().state()->members;
  if (from.empty()) from = {device(), cpu};
  std::vector<Device> members;
  for (std::size_t i = 0; i < count; ++i) members.push_back(from[i % from.size()]);
  return set_of_devices(std::move(members));
}

/// Returns a random set of 2 to `most` members, with uneven and some empty parts; rows are split
/// or replicated.
inline std::pair<Device, IndexOptions> set_by_chance(std::mt19937& random, std::size_t most) {
  const std::size_t count = 2 + random() % (most - 1);
  IndexOptions options{.placement = random() % 3 == 0 ? Placement::replicate : Placement::split};
  for (std::size_t i = 0; i < count; ++i) options.shares.push_back(static_cast<double>(random() % 5));
  options.shares[random() % count] = 3;
  return {set_of(count), options};
}

}  // namespace kith::tests
