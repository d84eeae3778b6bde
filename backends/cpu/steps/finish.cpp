// finish: keys as the caller sees them.
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"

namespace kith::cpu {

spi::Support check(const spi::FinishStep&, const Resources&) {
  return {};
}

void run(const spi::FinishStep& step, const Resources& with) {
  const std::size_t k = step.distance.cols;
  run_team(step.distance.rows, step.distance.rows * k, with.team, [&](std::size_t q, std::size_t) {
    finish(step.metric, {elements(step.keys) + q * step.keys.stride, k},
           elements(step.distance) + q * step.distance.stride, elements(step.rows) + q * step.rows.stride);
  });
}

}  // namespace kith::cpu
