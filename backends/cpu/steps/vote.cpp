// vote: each neighbour has one vote; the class with most votes wins, and the smallest of equal ones.
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {

spi::Support check(const spi::VoteStep&, const Resources&) {
  return {};
}

void run(const spi::VoteStep& step, const Resources& with) {
  const Key* const nearest = elements(step.nearest);
  const std::uint32_t* const labels = elements(step.labels);
  const std::size_t work = step.nearest.rows * (step.nearest.cols + step.classes);
  run_team(step.nearest.rows, work, with.team, [&](std::size_t q, std::size_t) {
    std::uint32_t* const counts = elements(step.counts) + q * step.counts.stride;
    std::fill(counts, counts + step.classes, 0u);
    for (std::size_t j = 0; j < step.nearest.cols; ++j) {
      const Key key = nearest[q * step.nearest.stride + j];
      if (key != no_key) ++counts[labels[row_of(key)]];
    }
    const std::uint32_t* const most = std::max_element(counts, counts + step.classes);
    elements(step.winner)[q * step.winner.stride] =
        *most ? static_cast<std::uint32_t>(most - counts) : no_row;
  });
}

}  // namespace kith::cpu
