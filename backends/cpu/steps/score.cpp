// score: adds the weights of the neighbours of each class in the order of their ranks.
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {

spi::Support check(const spi::ScoreStep&, const Resources&) {
  return {};
}

void run(const spi::ScoreStep& step, const Resources& with) {
  const std::uint32_t* const labels = elements(step.labels);
  const std::size_t work = step.nearest.rows * (step.nearest.cols + step.classes);
  run_team(step.nearest.rows, work, with.team, [&](std::size_t q, std::size_t) {
    const Key* const nearest = elements(step.nearest) + q * step.nearest.stride;
    const float* const weights = elements(step.weights) + q * step.weights.stride;
    float* const sums = elements(step.sums) + q * step.sums.stride;
    std::fill(sums, sums + step.classes, 0.0f);
    for (std::size_t j = 0; j < step.nearest.cols; ++j)
      if (nearest[j] != no_key) sums[labels[row_of(nearest[j])]] += weights[j];
  });
}

}  // namespace kith::cpu
