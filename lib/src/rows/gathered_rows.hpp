// Some of the rows of an Index, read from its device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rows/resident_rows.hpp"

namespace kith {

/// The rows at these places, as they lie on the device, one behind the other: [places.size(), dims]. Locks
/// the device now and then.
///   places  ascending
std::vector<float> gathered_rows(const ResidentRows& index, std::span<const std::int64_t> places,
                                 std::uint32_t threads);

}  // namespace kith
