// Proposer int8: shadows of signed bytes, and products of them with few queries.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include "common/kernels.hpp"

namespace kith::cuda {

/// Shadows of bytes lie as those of 16-bit floats do, with twice as many dimensions in a line.
constexpr HalfShape byte_shape(std::uint32_t dims) {
  return {dims <= 32 ? 2u : dims <= 64 ? 4u : 8u, (dims + 127) / 128};
}

/// preparation.shadow: from its first place; its stride means nothing.
cudaError_t prepare_int8(const Queue& queue, const Preparation& preparation, float scale);

/// Of up to spi::small_batch queries; `collection.from` is not read.
cudaError_t collect_int8(const Queue& queue, const HalfCollection& collection, const ProductBound& bound);

}  // namespace kith::cuda
