// accumulate: smallest and sum of the distances to each class, sums as pairs of floats.
#include <cmath>

#include "cpu/steps.hpp"
#include "parallel.hpp"

namespace kith::cpu {

spi::Support check(const spi::AccumulateStep&, const Resources&) {
  return {};
}

void run(const spi::AccumulateStep& step, const Resources& with) {
  const std::uint32_t* const labels = elements(step.labels);
  run_team(step.distances.rows, step.distances.rows * step.distances.cols, with.team,
           [&](std::size_t q, std::size_t) {
             const float* const distances = elements(step.distances) + q * step.distances.stride;
             float* const smallest = elements(step.smallest) + q * step.smallest.stride;
             float* const high = elements(step.high) + q * step.high.stride;
             float* const low = elements(step.low) + q * step.low.stride;
             for (std::size_t t = 0; t < step.distances.cols; ++t) {
               const std::uint32_t c = labels[t];
               const float x = distances[t] == 0.0f ? 0.0f : distances[t], before = high[c];
               const float sum = before + x;
               if (x < smallest[c]) smallest[c] = x;
               if (std::isfinite(sum)) {
                 const float part = sum - before;
                 low[c] += (before - (sum - part)) + (x - part);
               }
               high[c] = sum;
             }
           });
}

}  // namespace kith::cpu
