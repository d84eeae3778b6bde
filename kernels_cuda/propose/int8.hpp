// Proposer int8: shadows of signed bytes, and products of them with few queries.
#pragma once

#include "common/kernels.hpp"
#include "prepare/half_shape.hpp"

namespace kith::cuda {

/// Queries of a step, at most.
inline constexpr std::uint32_t int8_most_queries = 64;

/// Columns a row may have, so that sums of products stay below 2^31.
inline constexpr std::uint32_t int8_most_dims = 1u << 16;

/// Shadows of bytes lie as those of 16-bit floats do, with twice as many dimensions in a line.
constexpr HalfShape byte_shape(std::uint32_t dims) {
  return {dims <= 32 ? 2u : dims <= 64 ? 4u : 8u, (dims + 127) / 128};
}

/// b of docs/certificate.md, section 3: sums are exact; a factor of two roundings and one of the sum.
inline constexpr double product_error_int8 = 4 * 0x1p-24;

/// Of up to int8_most_queries queries.
cudaError_t collect_int8(const Queue& queue, const spi::CollectStep& step);

}  // namespace kith::cuda
