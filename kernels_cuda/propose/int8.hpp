// Proposers int8 and int4: the layout of quantized rows of signed bytes, or of half bytes, and their products
// with few queries. collect_hopper() computes those with many.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include "common/kernels.hpp"
#include "prepare/half_shape.hpp"

namespace kith::cuda {

/// Quantized rows of bytes have the layout of 16-bit floats, with twice as many dimensions per line.
constexpr HalfShape byte_shape(std::uint32_t dims) {
  return {dims <= 32 ? 2u : dims <= 64 ? 4u : 8u, (dims + 127) / 128};
}

inline constexpr std::uint32_t half_bytes_a_piece = 32;

/// Half bytes have the layout of 64 or 128 bytes a line. Of the 32 dimensions of a piece, word 2 h + w has
/// dimensions 16 h + 4 w ... 16 h + 4 w + 3 in the lower halves of its bytes, and those 8 further in the
/// upper halves.
constexpr HalfShape half_byte_shape(std::uint32_t dims) {
  return {dims <= 128 ? 4u : 8u, (dims + 255) / 256};
}

/// Handles up to spi::small_batch queries, which are bytes.
cudaError_t collect_bytes(const Queue& queue, const spi::CollectStep& step);

}  // namespace kith::cuda
