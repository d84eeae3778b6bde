// The arguments of the rerank kernels.
// No twin in kernels_cl: kernels of OpenCL take memory and places as arguments.
#pragma once

#include "common/common.cuh"

namespace kith::cuda {

struct Reranking {
  Metric metric;
  Rows queries;
  Rows train;
  std::uint32_t first_row;  ///< training row of train.first
  Lists<const std::uint32_t> candidates;
  Matrix<Key> out;  ///< [queries.rows, capacity]
};

inline Reranking reranking_of(const spi::RerankStep& step) {
  return {step.metric,
          rows_of(step.queries),
          rows_of(step.train),
          step.first_row,
          lists_of<const std::uint32_t>(step.candidates),
          matrix_of(step.out)};
}

}  // namespace kith::cuda
