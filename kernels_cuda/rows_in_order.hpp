// Rows one behind the other, for kernels that read single rows: a copy of packed rows.
#pragma once

#include "kernels.hpp"

namespace kith::cuda {

/// Write packed rows, from rows.first on, to out [rows, dims].
cudaError_t put_in_order(const Queue& queue, const Rows& rows, const Matrix<float>& out);

/// rerank() with training rows in order: reranking.train.data is [.., dims], from row 0 of the memory.
cudaError_t rerank_in_order(const Queue& queue, const Reranking& reranking);

}  // namespace kith::cuda
