// Uses several open devices as one: docs/howto/device-sets.md.
#pragma once

#include <vector>

#include "kith/device.hpp"

namespace kith {

/// Makes a device of two or more members. Its indices are distributed over the members; it has no memory of
/// its own, and refuses single steps (unsupported). Tests call this, too.
KITH_API Device set_of_devices(std::vector<Device> members);

/// Checks that no device occurs twice, by its name or by the address of its card. Throws invalid_argument,
/// which names both.
void check_members(const std::vector<Device>& members);

/// Returns the members of a set; empty for a single device.
const std::vector<Device>& members_of(const Device& device);
inline bool is_set(const Device& device) {
  return !members_of(device).empty();
}

/// Returns the device for work that only a single device can do: the first member of a set, or the
/// device itself.
const Device& first_of(const Device& device);

}  // namespace kith
