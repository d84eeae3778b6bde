// Copies some of the rows on a device, for compact(), and for filters that keep few rows.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "kith/matrix_view.hpp"
#include "rows/resident_rows.hpp"

namespace kith {

/// Copies rows, [count, schema.dims], to the device. Throws out_of_memory.
std::shared_ptr<ResidentRows> uploaded_rows(const RowSchema& schema, MatrixView<const float> rows,
                                            std::uint32_t threads);

/// Reads these rows from the device and writes them to new memory there, in one part if it fits.
///   places  ascending, at least one
/// Throws out_of_memory.
std::shared_ptr<const ResidentRows> compacted_rows(const ResidentRows& index,
                                                   std::span<const std::int64_t> places);

/// Copies these rows for one search. What is known about all rows is taken for these, too, and a device that
/// can gather rows does it itself.
std::shared_ptr<const ResidentRows> kept_rows(const ResidentRows& index, std::span<const std::int64_t> places,
                                              std::uint32_t threads);

}  // namespace kith
