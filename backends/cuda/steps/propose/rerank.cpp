#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::RerankStep& step) const {
  std::string refusal = refusal_of_rows("queries", step.queries);
  if (refusal.empty() && step.train.block != 1) refusal = refusal_of_rows("training rows", step.train);
  return {refusal, 0};
}

cudaError_t Device::enqueue(const spi::RerankStep& step) {
  if (step.queries.rows == 0) return cudaSuccess;
  // With more columns some chains may differ from the results of products, so all chains are computed.
  if (step.products.low.cols > 0 && step.train.dims <= spi::columns_of_exact_chains(step.metric))
    return rerank_products(queue_, step);
  if (step.train.block != 1) return rerank(queue_, step);
  constexpr std::size_t most_places = std::size_t{1} << 28;  // places of eight queries are counted in 32 bits
  constexpr std::size_t piece = 16;                          // bytes; a caller's memory may begin anywhere
  const bool aligned = step.train.dims % 4 == 0 && step.queries.first % 8 == 0 &&
                       reinterpret_cast<std::uintptr_t>(address_of(step.train.memory)) % piece == 0;
  return aligned && step.candidates.rows.cols <= most_places ? rerank_lines(queue_, step)
                                                             : rerank_in_order(queue_, step);
}

}  // namespace kith::cuda
