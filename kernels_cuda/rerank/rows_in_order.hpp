// Rows one behind the other, which prepare copies, for kernels that read single rows.
// No twin in kernels_cl: kernels of OpenCL are launched by their names.
#pragma once

#include "common/kernels.hpp"

namespace kith::cuda {

/// rerank() with training rows in order: reranking.train.data is [.., dims], from row 0 of the memory.
cudaError_t rerank_in_order(const Queue& queue, const Reranking& reranking);

/// The same, where each training row begins at 16 bytes, and eight queries at a multiple of eight.
cudaError_t rerank_lines(const Queue& queue, const Reranking& reranking);

}  // namespace kith::cuda
