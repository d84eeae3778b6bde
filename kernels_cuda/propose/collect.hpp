// The launchers of collect, and the problems that each is for. docs/certificate.md, section 4.
#pragma once

#include "common/kernels.hpp"

namespace kith::cuda {

/// The most columns for which the bound of a product holds: (dims + 2) 2^-24 < 1/2. docs/certificate.md,
/// section 1.
inline constexpr std::uint32_t product_max_dims = (1u << 23) - 3;

/// Returns the number of places of a step; with tensor cores it is rounded up to whole tiles.
inline std::uint32_t places_of(const spi::CollectStep& step) {
  const auto columns = static_cast<std::uint32_t>(step.values.cols);
  if (!spi::is_scaled(step.proposer)) return columns;
  return (columns + spi::quantized_block_rows - 1) / spi::quantized_block_rows * spi::quantized_block_rows;
}

/// Computes into scratch, for each place, the value `low` from which products are subtracted, and the gap
/// between the bounds. collect_values() with products, collect_fp16() and collect_hopper() need both.
std::size_t collect_low_scratch(const spi::CollectStep& step);
cudaError_t collect_low(const Queue& queue, const spi::CollectStep& step);

/// Collects from values, or from products in place of values.
cudaError_t collect_values(const Queue& queue, const spi::CollectStep& step);

cudaError_t collect_fp16(const Queue& queue, const spi::CollectStep& step);
/// Does the same for up to spi::small_batch queries, at the speed of memory. It does not need collect_low().
cudaError_t collect_fp16_small_batch(const Queue& queue, const spi::CollectStep& step);

/// The kernels of fp16 and int8 for compute capability 9.0, which gives a block this much shared memory. They
/// exist only if kith is compiled for 9.0.
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

/// Returns whether a device can run collect_hopper().
inline bool takes_collect_hopper(std::uint32_t capability, std::size_t shared_bytes) {
  return has_collect_hopper && capability == 90 && shared_bytes >= hopper_shared_bytes;
}

}  // namespace kith::cuda
