#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

template <class Step>
bool is_of_squares(const Step& step) {
  return step.proposer != Proposer::none && is_squared(step.metric);
}

/// Why theta cannot be made of so many lists; empty when it can.
template <class Step>
std::string refusal_of_theta(const Step& step) {
  if (step.proposer != Proposer::none && step.proposer != Proposer::gemm && !on_tensor_cores(step.proposer))
    return "it has no proposer " + std::string(name(step.proposer)) + "; choose none, gemm, fp16 or int8";
  std::string refusal = refusal_of_lists(step.theta.rows, 1);
  if (refusal.empty() && step.proposer != Proposer::none)
    refusal = refusal_of_products(step.proposer, step.metric, step.dims);
  return refusal;
}

Tightening tightening_of(const spi::TightenStep& step) {
  return {is_of_squares(step) ? Limit::squared : Limit::value,
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
          step.afresh,
          step.guessed};
}

/// Of bounds: what is listed is not given.
template <class Step>
Tightening of_bounds(const Step& step) {
  Tightening tightening{};
  tightening.limit = is_of_squares(step) ? Limit::bound_of_square : Limit::bound;
  tightening.dims = step.dims;
  tightening.rows = static_cast<std::uint32_t>(step.theta.rows);
  tightening.k = step.k;
  tightening.query_facts = input_of(step.query_facts);
  tightening.theta = matrix_of(step.theta);
  return tightening;
}

}  // namespace

spi::Support Device::check(const spi::TightenStep& step) const {
  std::string refusal = refusal_of_theta(step);
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
  return tighten(queue_, tightening_of(step), scratch_of(step.scratch));
}

spi::Support Device::check(const spi::TightenByBoundsStep& step) const {
  return {refusal_of_theta(step), 0};
}

cudaError_t Device::enqueue(const spi::TightenByBoundsStep& step) {
  if (step.theta.rows == 0) return cudaSuccess;
  Tightening tightening = of_bounds(step);
  tightening.keys = input_of(step.highs);
  tightening.capacity = capacity_of(step.highs.cols);
  tightening.counts = matrix_of(step.counts);
  tightening.lost = matrix_of(step.lost);
  return tighten_by_bounds(queue_, tightening);
}

spi::Support Device::check(const spi::TightenBySampleStep& step) const {
  if (!on_tensor_cores(step.proposer)) return {"samples are of proposers fp16 and int8", 0};
  return {refusal_of_theta(step), 0};
}

cudaError_t Device::enqueue(const spi::TightenBySampleStep& step) {
  if (step.theta.rows == 0) return cudaSuccess;
  return tighten_by_sample(queue_, of_bounds(step), input_of(step.sample),
                           static_cast<std::uint32_t>(step.sample.cols));
}

}  // namespace kith::cuda
