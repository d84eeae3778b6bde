#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

Search search_of(const spi::NearestStep& step) {
  return {step.metric, rows_of(step.queries), rows_of(step.train), step.first_row,
          step.k,      step.groups,           matrix_of(step.out)};
}

}  // namespace

spi::Support Device::check(const spi::NearestStep& step) const {
  std::string refusal = refusal_of_rows("queries", step.queries);
  if (refusal.empty()) refusal = refusal_of_rows("training rows", step.train);
  if (refusal.empty()) refusal = refusal_of_lists(step.queries.rows, step.groups);
  if (refusal.empty() && step.k > nearest_max_k)
    refusal = "the fused step keeps at most " + std::to_string(nearest_max_k) +
              " neighbours, but k = " + std::to_string(step.k) + "; use distance and select";
  if (!refusal.empty()) return {refusal, 0};
  if (step.queries.rows == 0 || step.train.rows == 0) return {};
  return {"", nearest_scratch(queue_, search_of(step))};
}

cudaError_t Device::enqueue(const spi::NearestStep& step) {
  if (step.queries.rows == 0 || step.train.rows == 0) return cudaSuccess;
  return nearest(queue_, search_of(step), scratch_of(step.scratch));
}

}  // namespace kith::cuda
