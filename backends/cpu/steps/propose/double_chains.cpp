// chains_f64: computes the chains in double precision of listed rows.
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

DoubleCandidates candidates_of(const spi::DoubleChainsStep& step, std::size_t query) {
  return {step.metric,
          elements(step.queries) + query * step.queries.stride,
          elements(step.train),
          step.train.stride,
          step.train.cols,
          elements(step.rows) + query * step.rows.stride,
          step.first_row,
          static_cast<std::uint32_t>(step.train.rows),
          step.rows.cols,
          step.terms.cols > 0 ? elements(step.terms) : nullptr,
          step.mixed};
}

/// Computes the chains of all queries with the rows of one list: a part of it at a time, so that its rows
/// stay in the caches, for some queries.
void run_shared(const spi::DoubleChainsStep& step, const Resources& with) {
  constexpr std::size_t rows_a_task = 256, queries_a_task = 128;
  const std::size_t width = step.rows.cols, m = step.rows.rows;
  const std::size_t parts = (width + rows_a_task - 1) / rows_a_task;
  const std::size_t shares = (m + queries_a_task - 1) / queries_a_task;
  run_team(parts * shares, m * width * step.train.cols, with.team, [&](std::size_t task, std::size_t) {
    const std::size_t j = task % parts * rows_a_task, q = task / parts * queries_a_task;
    DoubleCandidates some = candidates_of(step, q);
    some.rows += j;
    some.count = std::min(rows_a_task, width - j);
    with.kernels.shared_double_chains(some, std::min(queries_a_task, m - q), step.queries.stride,
                                      elements(step.values) + q * step.values.stride + j, step.values.stride);
  });
}

}  // namespace

spi::Support check(const spi::DoubleChainsStep&, const Resources&) {
  return {};
}

void run(const spi::DoubleChainsStep& step, const Resources& with) {
  const std::size_t width = step.rows.cols, dims = step.train.cols, m = step.rows.rows;
  if (step.rows.stride == 0 && m > 1) return run_shared(step, with);
  constexpr std::size_t share_work = std::size_t{1} << 14;
  const std::size_t share = std::max<std::size_t>(1, share_work / std::max<std::size_t>(1, width * dims));
  const std::size_t shares = (m + share - 1) / share;
  run_team(shares, m * width * dims, with.team, [&](std::size_t task, std::size_t) {
    for (std::size_t q = task * share; q < std::min(m, (task + 1) * share); ++q)
      with.kernels.double_chains(candidates_of(step, q), elements(step.values) + q * step.values.stride);
  });
}

}  // namespace kith::cpu
