// Packs rows of a matrix into one block of RowBlocks.
#pragma once

#include <cstdint>

#include "device/host_buffer.hpp"
#include "kith/matrix_view.hpp"

namespace kith {

/// Writes rows r0 ... r0 + block - 1, transposed, to `out` [cols, block]; rows that do not exist
/// become zeros.
void pack_block(MatrixView<const float> rows, std::int64_t r0, std::int64_t block, float* out, Reader reader);

}  // namespace kith
