// prune: removes the candidates that are above the threshold from their lists.
//
// Work: one comparison per candidate, and a copy of each that stays. A task is one query.
#include <algorithm>

#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {

spi::Support check(const spi::PruneStep&, const Resources&) {
  return {};
}

void run(const spi::PruneStep& step, const Resources& with) {
  const std::size_t m = step.threshold.rows, capacity = step.lists.rows.cols;
  std::uint32_t* const counts = elements(step.lists.counts);
  std::size_t listed = m;
  for (std::size_t q = 0; q < m; ++q)
    listed += std::min<std::size_t>(counts[q * step.lists.counts.stride], capacity);
  run_team(m, listed, with.team, [&](std::size_t q, std::size_t) {
    std::uint32_t& count = counts[q * step.lists.counts.stride];
    const std::size_t many = std::min<std::size_t>(count, capacity);
    const float threshold = elements(step.threshold)[q * step.threshold.stride];
    std::uint32_t* const rows = elements(step.lists.rows) + q * step.lists.rows.stride;
    float* const low = elements(step.bounds.low) + q * step.bounds.low.stride;
    Key* const high = elements(step.bounds.high) + q * step.bounds.high.stride;
    std::uint32_t kept = 0;
    for (std::size_t j = 0; j < many; ++j) {
      if (!(low[j] <= threshold)) continue;
      rows[kept] = rows[j];
      if (!step.only_rows) {
        low[kept] = low[j];
        high[kept] = high[j];
      }
      ++kept;
    }
    count = kept;
  });
}

}  // namespace kith::cpu
