// Reads some rows of an Index from its device.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "rows/resident_rows.hpp"

namespace kith {

/// Returns the rows at these places, as they are on the device, contiguous: [places.size(), dims]. Locks the
/// device now and then.
///   places  ascending
std::vector<float> gathered_rows(const ResidentRows& index, std::span<const std::int64_t> places,
                                 std::uint32_t threads);

}  // namespace kith
