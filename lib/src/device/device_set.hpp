// Several open devices as one: docs/howto/device-sets.md.
#pragma once

#include <vector>

#include "kith/device.hpp"

namespace kith {

/// A device of these members, which are two or more. Indices on it lie on its members; it has no memory of
/// its own, and refuses single steps (unsupported). Tests call it, too.
KITH_API Device set_of_devices(std::vector<Device> members);

/// Refuse a device that is there twice, by its name or by the address of its card.
/// Throws invalid_argument: names both.
void check_members(const std::vector<Device>& members);

/// The members of a set; empty of a single device.
const std::vector<Device>& members_of(const Device& device);
inline bool is_set(const Device& device) {
  return !members_of(device).empty();
}

/// Who does what one device has to do as a whole: the first member of a set, or the device itself.
const Device& first_of(const Device& device);

}  // namespace kith
