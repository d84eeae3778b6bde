// Proposer int8: the layout of quantized rows of signed bytes, and their products with few queries.
// collect_hopper() computes those with many.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include "common/kernels.hpp"
#include "prepare/half_shape.hpp"

namespace kith::cuda {

/// Quantized rows of bytes have the layout of 16-bit floats, with twice as many dimensions per line.
constexpr HalfShape byte_shape(std::uint32_t dims) {
  return {dims <= 32 ? 2u : dims <= 64 ? 4u : 8u, (dims + 127) / 128};
}

/// Handles up to spi::small_batch queries.
cudaError_t collect_int8(const Queue& queue, const spi::CollectStep& step);

}  // namespace kith::cuda
