// collect, fp16, of up to 24 dimensions, with the test as part of the product: collect_fp16_folded.cu.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include "prepare/prepare_fp16.hpp"

namespace kith::cuda {

/// Bytes of scratch.
std::size_t fold_scratch(std::uint32_t columns, std::uint32_t dims);

/// `collection.from` is not read; `bound.b` is of such sums.
///   with_gap  whether bounds are wanted
cudaError_t collect_fp16_folded(const Queue& queue, const HalfCollection& collection,
                                const ProductBound& bound, bool with_gap, const Scratch& scratch);

}  // namespace kith::cuda
