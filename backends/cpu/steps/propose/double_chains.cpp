// chains_f64: computes the chains in double precision of listed rows.
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {

spi::Support check(const spi::DoubleChainsStep&, const Resources&) {
  return {};
}

void run(const spi::DoubleChainsStep& step, const Resources& with) {
  const std::size_t width = step.rows.cols, dims = step.train.cols;
  constexpr std::size_t share_work = std::size_t{1} << 14;
  const std::size_t share = std::max<std::size_t>(1, share_work / std::max<std::size_t>(1, width * dims));
  const std::size_t m = step.rows.rows, shares = (m + share - 1) / share;
  run_team(shares, m * width * dims, with.team, [&](std::size_t task, std::size_t) {
    for (std::size_t q = task * share; q < std::min(m, (task + 1) * share); ++q)
      with.kernels.double_chains(
          {step.metric, elements(step.queries) + q * step.queries.stride, elements(step.train),
           step.train.stride, dims, elements(step.rows) + q * step.rows.stride, step.first_row,
           static_cast<std::uint32_t>(step.train.rows), width},
          elements(step.values) + q * step.values.stride);
  });
}

}  // namespace kith::cpu
