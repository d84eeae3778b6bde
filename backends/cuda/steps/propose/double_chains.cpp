#include <limits>

#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::DoubleChainsStep& step) const {
  if (step.terms.cols > 0) return {"its kernels heed no terms of columns in double precision", 0};
  // A block handles at least one pair, and a launch has at most 2^31 - 1 blocks of 32.
  constexpr std::uint64_t most_pairs = std::uint64_t{std::numeric_limits<std::int32_t>::max()} * 32;
  const std::uint64_t pairs = std::uint64_t{step.rows.rows} * step.rows.cols;
  if (pairs <= most_pairs) return {};
  return {std::to_string(pairs) + " pairs are too many for one step, which takes " +
              std::to_string(most_pairs) + "; give fewer queries",
          0};
}

cudaError_t Device::enqueue(const spi::DoubleChainsStep& step) {
  return step.rows.rows == 0 || step.rows.cols == 0 ? cudaSuccess : double_chains(queue_, step);
}

}  // namespace kith::cuda
