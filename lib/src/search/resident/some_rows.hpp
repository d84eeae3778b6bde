// Some of the rows on a device, put there once more: for compact(), and for filters that keep few rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "rows/resident_rows.hpp"

namespace kith {

/// These rows, which are read from the device and put there once more, in one part where it fits.
///   places  ascending, at least one
/// Throws out_of_memory.
std::shared_ptr<const ResidentRows> compacted_rows(const ResidentRows& index,
                                                   std::span<const std::int64_t> places);

/// The same for one search: what is known of all rows is taken for what is known of these, and where the
/// device can, it puts them side by side itself.
std::shared_ptr<const ResidentRows> kept_rows(const ResidentRows& index, std::span<const std::int64_t> places,
                                              std::uint32_t threads);

}  // namespace kith
