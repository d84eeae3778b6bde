// Stores rows that the host has prepared on one device.
#pragma once

#include <cstdint>
#include <memory>

#include "kith/matrix_view.hpp"
#include "search/stores/row_store.hpp"

namespace kith {

/// Stores rows on one device: packed if stays_packed(), else as float32.
///   rows     prepared
///   largest  max |element| of these rows, or of more
///   reserve  IndexOptions::reserve
/// Throws out_of_memory.
std::shared_ptr<const RowStore> stored_on_device(const RowSchema& schema, MatrixView<const float> rows,
                                                 float largest, std::int64_t reserve, std::uint32_t threads);

}  // namespace kith
