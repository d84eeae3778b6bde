// collect, fp16, of up to 24 dimensions, with the test as part of the product: collect_fp16_folded.cu.
#pragma once

#include "prepare/prepare_fp16.hpp"

namespace kith::cuda {

inline constexpr std::uint32_t folded_most_dims = 24;

/// b of docs/certificate.md, section 3, for such sums.
double product_error_folded(std::uint32_t dims);

/// Bytes of scratch.
std::size_t fold_scratch(std::uint32_t columns, std::uint32_t dims);

/// `collection.from` is not read; `bound.b` as product_error_folded() says.
///   with_gap  whether bounds are wanted
cudaError_t collect_fp16_folded(const Queue& queue, const HalfCollection& collection,
                                const ProductBound& bound, bool with_gap, const Scratch& scratch);

}  // namespace kith::cuda
