// distance: computes one chain for each pair, and writes it.
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// The queries and training rows of a task: wide enough that rows are read from cache more often than from
/// memory, and small enough that all threads end at about the same time.
constexpr std::size_t task_queries = 64, task_rows = 4096;

}  // namespace

spi::Support check(const spi::DistanceStep&, const Resources&) {
  return {};
}

void run(const spi::DistanceStep& step, const Resources& with) {
  const spi::RowBlocks &q = step.queries, &t = step.train;
  const std::size_t query_tasks = (q.rows + task_queries - 1) / task_queries;
  const std::size_t row_tasks = (t.rows + task_rows - 1) / task_rows;
  const float *const queries = elements(q), *const train = elements(t);
  float* const out = elements(step.out);
  const std::size_t work = std::size_t{q.rows} * t.rows * t.dims;
  run_team(query_tasks * row_tasks, work, with.team, [&](std::size_t task, std::size_t) {
    const std::size_t query = task % query_tasks * task_queries, row = task / query_tasks * task_rows;
    const Operands operands{step.metric,     queries,
                            train,           t.dims,
                            q.first + query, q.first + std::min<std::size_t>(q.rows, query + task_queries),
                            t.first + row,   t.first + std::min<std::size_t>(t.rows, row + task_rows),
                            terms_of(t),     t.mixed,
                            step.summed()};
    with.kernels.distance(operands, out + query * step.out.stride + row, step.out.stride);
  });
}

}  // namespace kith::cpu
