#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

Limit limit_of(const spi::TightenStep& step) {
  const bool squared = step.proposer != Proposer::none && is_squared(step.metric);
  if (step.of != spi::TightenStep::Of::chains) return squared ? Limit::bound_of_square : Limit::bound;
  return squared ? Limit::squared : Limit::value;
}

Tightening tightening_of(const spi::TightenStep& step) {
  return {limit_of(step),
          step.dims,
          static_cast<std::uint32_t>(step.best.rows),
          step.k,
          input_of(step.keys),
          capacity_of(step.keys.cols),
          matrix_of(step.counts),
          matrix_of(step.best),
          input_of(step.query_facts),
          matrix_of(step.theta),
          matrix_of(step.lost),
          step.afresh || step.of != spi::TightenStep::Of::chains,
          step.guessed};
}

}  // namespace

spi::Support Device::check(const spi::TightenStep& step) const {
  if (step.of == spi::TightenStep::Of::sample && !on_tensor_cores(step.proposer))
    return {"samples are of proposers fp16 and int8", 0};
  if (step.proposer != Proposer::none && step.proposer != Proposer::gemm && !on_tensor_cores(step.proposer))
    return {"it has no proposer " + std::string(name(step.proposer)) + "; choose none, gemm, fp16 or int8",
            0};
  std::string refusal = refusal_of_lists(step.best.rows, 1);
  if (refusal.empty() && step.proposer != Proposer::none)
    refusal = refusal_of_products(step.proposer, step.metric, step.dims);
  // Long lists are sorted together with the candidates, and counted in 31 bits.
  constexpr std::uint64_t most = 0x7FFFFFFFu;
  if (refusal.empty() && step.k > threshold_max_k && step.k + std::uint64_t{step.keys.cols} > most)
    refusal = "k = " + std::to_string(step.k) + " and " + std::to_string(step.keys.cols) +
              " candidates are more than the " + std::to_string(most) +
              " keys it sorts at once; choose shorter lists";
  if (!refusal.empty() || step.best.rows == 0) return {refusal, 0};
  return {"", tighten_scratch(tightening_of(step))};
}

cudaError_t Device::enqueue(const spi::TightenStep& step) {
  if (step.best.rows == 0) return cudaSuccess;
  if (step.of == spi::TightenStep::Of::sample)
    return tighten_by_sample(queue_, tightening_of(step), input_of(step.sample),
                             static_cast<std::uint32_t>(step.sample.cols));
  return tighten(queue_, tightening_of(step), scratch_of(step.scratch));
}

}  // namespace kith::cuda
