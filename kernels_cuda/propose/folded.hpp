// collect, fp16, of up to 24 dimensions, with the test as part of the product: collect_fp16_folded.cu.
#pragma once

#include "prepare/prepare_fp16.hpp"
#include "propose/collect.hpp"

namespace kith::cuda {

inline constexpr std::uint32_t folded_most_dims = 24;

/// b of docs/certificate.md, section 3, for such sums.
double product_error_folded(std::uint32_t dims);

std::size_t collect_fp16_folded_scratch(const spi::CollectStep& step);
cudaError_t collect_fp16_folded(const Queue& queue, const spi::CollectStep& step);

}  // namespace kith::cuda
