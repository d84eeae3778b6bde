#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::MergeStep& step) const {
  // A launch has one thread per key, in blocks of 256.
  constexpr std::uint64_t most = std::uint64_t{0x7FFFFFFF} * 256;
  const double keys = static_cast<double>(step.in.rows) * step.lists * step.k;
  if (keys <= static_cast<double>(most)) return {};
  return {std::to_string(step.in.rows) + " rows * " + std::to_string(step.lists) +
              " lists * k = " + std::to_string(step.k) + " are more than the " + std::to_string(most) +
              " keys of a step; choose a smaller query tile or fewer lists",
          0};
}

/// Merges few lists, or long ones, by rank.
cudaError_t Device::enqueue(const spi::MergeStep& step) {
  constexpr std::uint64_t most_keys = std::uint64_t{1} << 31;  // they are counted in 32 bits
  const bool at_once =
      step.lists > 8 && step.k <= threshold_max_k && std::uint64_t{step.lists} * step.k <= most_keys;
  return at_once ? merge_at_once(queue_, step) : merge_by_rank(queue_, step);
}

}  // namespace kith::cuda
