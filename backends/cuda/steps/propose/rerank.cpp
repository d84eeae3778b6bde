#include "rerank/rows_in_order.hpp"
#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::RerankStep& step) const {
  std::string refusal = refusal_of_rows("queries", step.queries);
  if (refusal.empty() && step.train.block != 1) refusal = refusal_of_rows("training rows", step.train);
  return {refusal, 0};
}

cudaError_t Device::enqueue(const spi::RerankStep& step) {
  if (step.queries.rows == 0) return cudaSuccess;
  const Reranking reranking{step.metric,
                            rows_of(step.queries),
                            rows_of(step.train),
                            step.first_row,
                            lists_of<const std::uint32_t>(step.candidates),
                            matrix_of(step.out)};
  return step.train.block == 1 ? rerank_in_order(queue_, reranking) : rerank(queue_, reranking);
}

}  // namespace kith::cuda
