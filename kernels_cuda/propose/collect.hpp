// collect: launchers, and what they are for. docs/certificate.md, section 4.
#pragma once

#include "common/kernels.hpp"

namespace kith::cuda {

/// Columns a row may have for the bound of a product: (dims + 2) 2^-24 < 1/2. docs/certificate.md, section 1.
inline constexpr std::uint32_t product_max_dims = (1u << 23) - 3;

/// Places of a step: tensor cores take whole tiles.
inline std::uint32_t places_of(const spi::CollectStep& step) {
  const auto columns = static_cast<std::uint32_t>(step.values.cols);
  if (step.proposer != Proposer::fp16 && step.proposer != Proposer::int8) return columns;
  return (columns + spi::quantized_block_rows - 1) / spi::quantized_block_rows * spi::quantized_block_rows;
}

/// Compute what the product with the row at each place is taken from, and how far its bounds are apart, into
/// scratch, for collect_values() of products, collect_fp16() and collect_hopper().
std::size_t collect_low_scratch(const spi::CollectStep& step);
cudaError_t collect_low(const Queue& queue, const spi::CollectStep& step);

/// Over values, or products in their place.
cudaError_t collect_values(const Queue& queue, const spi::CollectStep& step);

cudaError_t collect_fp16(const Queue& queue, const spi::CollectStep& step);
/// The same for up to spi::small_batch queries, as fast as memory. It needs no collect_low().
cudaError_t collect_fp16_small_batch(const Queue& queue, const spi::CollectStep& step);

/// fp16 and int8 for compute capability 9.0 alone, which gives a block so much shared memory, compiled where
/// the build is for it.
inline constexpr std::uint32_t hopper_shared_bytes = 227 * 1024;
#ifdef KITH_CUDA_HOPPER
inline constexpr bool has_collect_hopper = true;
cudaError_t collect_hopper(const Queue& queue, const spi::CollectStep& step);
#else
inline constexpr bool has_collect_hopper = false;
inline cudaError_t collect_hopper(const Queue&, const spi::CollectStep&) {
  return cudaErrorNotSupported;
}
#endif

/// Whether a chip takes collect_hopper().
inline bool takes_collect_hopper(std::uint32_t capability, std::size_t shared_bytes) {
  return has_collect_hopper && capability == 90 && shared_bytes >= hopper_shared_bytes;
}

}  // namespace kith::cuda
