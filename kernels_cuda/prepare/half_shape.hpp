// The memory layout of quantized rows for tensor cores.
// No twin in kernels_cl: prepare_quantized.cl has it.
#pragma once

#include "common/views.hpp"

namespace kith::cuda {

/// The number of quantized rows is padded to a multiple of this (kith/spi/candidates.hpp, QuantizedRows).
inline constexpr std::uint32_t tile_of_halves = spi::quantized_block_rows;

/// The layout of quantized rows of 16-bit floats. Tiles of 128 rows follow each other; a tile consists of
/// slabs of up to 64 dimensions; a slab consists of 128 lines, one per row. The order of the 16-byte pieces
/// of a line depends on the row, so that the same piece of 8 rows is in different banks (the hardware's 128-,
/// 64- or 32-byte swizzle): piece p of row r is at place p ^ r * pieces / 8 % pieces.
struct HalfShape {
  std::uint32_t pieces;  ///< pieces of a line: 8; 4 for up to 32 dimensions, 2 for up to 16
  std::uint32_t slabs;   ///< slabs of a tile
};

constexpr HalfShape half_shape(std::uint32_t dims) {
  return {dims <= 16 ? 2u : dims <= 32 ? 4u : 8u, (dims + 63) / 64};
}

/// Returns the address of the first quantized row of a grid.
inline void* quantized_of(Proposer proposer, const spi::Grid<float>& rows) {
  return static_cast<unsigned char*>(address_of(rows.memory)) +
         rows.first * spi::quantized_bytes_a_row(proposer, rows.cols);
}

}  // namespace kith::cuda
