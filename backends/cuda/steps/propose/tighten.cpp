#include "steps/steps.hpp"

namespace kith::cuda {
namespace {

/// Returns why the threshold of so many lists cannot be computed; empty if it can.
template <class Step>
std::string refusal_of_threshold(const Step& step) {
  if (step.proposer != Proposer::none && step.proposer != Proposer::gemm && !spi::is_scaled(step.proposer))
    return "it has no proposer " + std::string(name(step.proposer)) +
           "; choose none, gemm, fp16, int8 or int4";
  std::string refusal = refusal_of_lists(step.threshold.rows, 1);
  return refusal.empty() ? refusal_of_gemm(step.proposer, step.dims) : refusal;
}

bool at_once(const spi::TightenStep& step) {
  return step.k <= threshold_max_k;
}

}  // namespace

spi::Support Device::check(const spi::TightenStep& step) const {
  std::string refusal = refusal_of_threshold(step);
  // Long lists are sorted together with the candidates, and keys are counted in 31 bits.
  constexpr std::uint64_t most = 0x7FFFFFFFu;
  if (refusal.empty() && !at_once(step) && step.k + std::uint64_t{step.keys.cols} > most)
    refusal = "k = " + std::to_string(step.k) + " and " + std::to_string(step.keys.cols) +
              " candidates are more than the " + std::to_string(most) +
              " keys it sorts at once; choose shorter lists";
  if (!refusal.empty() || step.best.rows == 0 || at_once(step)) return {refusal, 0};
  return {"", tighten_by_sorting_scratch(step)};
}

cudaError_t Device::enqueue(const spi::TightenStep& step) {
  if (step.best.rows == 0) return cudaSuccess;
  return at_once(step) ? tighten_at_once(queue_, step) : tighten_by_sorting(queue_, step);
}

spi::Support Device::check(const spi::TightenByBoundsStep& step) const {
  return {refusal_of_threshold(step), 0};
}

cudaError_t Device::enqueue(const spi::TightenByBoundsStep& step) {
  return step.threshold.rows == 0 ? cudaSuccess : tighten_by_bounds(queue_, step);
}

spi::Support Device::check(const spi::TightenBySampleStep& step) const {
  return {refusal_of_threshold(step), 0};
}

cudaError_t Device::enqueue(const spi::TightenBySampleStep& step) {
  if (step.threshold.rows == 0) return cudaSuccess;
  constexpr std::size_t most_of_warp = 256;  // a warp handles so few numbers as fast as a block
  const bool few = step.threshold.rows <= std::size_t{4} * queue_.multiprocessors;
  return few && step.sample.cols > most_of_warp && step.k <= sample_small_batch_max_k
             ? tighten_by_small_batch(queue_, step)
             : tighten_by_sample(queue_, step);
}

}  // namespace kith::cuda
