#include "steps/steps.hpp"

namespace kith::cuda {

spi::Support Device::check(const spi::MergeStep& step) const {
  // A launch has a thread for each key, in blocks of 256.
  constexpr std::uint64_t most = std::uint64_t{0x7FFFFFFF} * 256;
  const double keys = static_cast<double>(step.in.rows) * step.lists * step.k;
  if (keys <= static_cast<double>(most)) return {};
  return {std::to_string(step.in.rows) + " rows * " + std::to_string(step.lists) +
              " lists * k = " + std::to_string(step.k) + " are more than the " + std::to_string(most) +
              " keys of a step; choose a smaller query tile or fewer groups",
          0};
}

cudaError_t Device::enqueue(const spi::MergeStep& step) {
  return merge(queue_, input_of(step.in), static_cast<std::uint32_t>(step.in.rows), step.lists, step.k,
               matrix_of(step.out));
}

}  // namespace kith::cuda
