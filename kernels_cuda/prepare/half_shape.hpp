// How quantized rows for tensor cores lie in memory.
// No twin in kernels_cl: prepare_quantized.cl has it.
#pragma once

#include "common/views.hpp"

namespace kith::cuda {

/// They are padded to whole multiples of so many rows (kith/spi/candidates.hpp, QuantizedRows).
inline constexpr std::uint32_t tile_of_halves = spi::quantized_block_rows;

/// Quantized rows of 16-bit floats: tile after tile of 128 rows, of each tile slab after slab of up to 64
/// dimensions, of each slab 128 lines, a row's. The pieces of 16 bytes of a line are in an order that depends
/// on the row, so that the same piece of 8 rows is in different banks (the 128-, 64- or 32-byte swizzle of
/// the hardware): piece p of row r stands at place p ^ r * pieces / 8 % pieces.
struct HalfShape {
  std::uint32_t pieces;  ///< of a line: 8, or 4 or 2 of up to 32 or 16 dimensions
  std::uint32_t slabs;   ///< of a tile
};

constexpr HalfShape half_shape(std::uint32_t dims) {
  return {dims <= 16 ? 2u : dims <= 32 ? 4u : 8u, (dims + 63) / 64};
}

/// Where the first quantized row of a grid begins.
inline void* quantized_of(Proposer proposer, const spi::Grid<float>& rows) {
  const std::size_t element = proposer == Proposer::int8 ? sizeof(std::int8_t) : sizeof(std::uint16_t);
  return static_cast<unsigned char*>(address_of(rows.memory)) +
         rows.first * spi::quantized_columns(proposer, rows.cols) * element;
}

}  // namespace kith::cuda
