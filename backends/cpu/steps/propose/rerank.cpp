// rerank: the chain of every listed candidate, as a key.
//
// Work: dims multiply-adds a candidate; in blocks of 16 a row's values lie a cache line apart, so the scan of
// a candidate reads the lines of its whole block, in blocks of 1 its own. Tasks are parts of lists where
// there are few queries.
#include <array>
#include <string>

#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"

namespace kith::cpu {
namespace {

/// Fewest candidates of a task, and values that wait for their keys.
constexpr std::size_t least_part = 256;
/// Tasks for each thread, where queries are fewer.
constexpr std::size_t tasks_a_thread = 16;

struct Lists {
  const spi::RerankStep& step;
  std::size_t capacity = step.candidates.rows.cols;

  std::size_t length(std::size_t q) const {
    return std::min<std::size_t>(capacity,
                                 elements(step.candidates.counts)[q * step.candidates.counts.stride]);
  }
  std::size_t total() const {
    std::size_t sum = 0;
    for (std::size_t q = 0; q < step.queries.rows; ++q) sum += length(q);
    return sum;
  }
};

/// Candidates begin .. end - 1 of query q.
void rerank_part(const spi::RerankStep& step, const Kernels& kernels, std::size_t q, std::size_t begin,
                 std::size_t end) {
  const std::size_t row = step.queries.first + q, dims = step.train.dims;
  const float* const query =
      elements(step.queries) + row / query_block * dims * query_block + row % query_block;
  const std::uint32_t* const rows = elements(step.candidates.rows) + q * step.candidates.rows.stride;
  Key* const out = elements(step.out) + q * step.out.stride;
  std::array<float, least_part> values;
  for (std::size_t at = begin; at < end; at += values.size()) {
    const std::size_t count = std::min(end - at, values.size());
    kernels.rerank({step.metric, query, elements(step.train), step.train.block, dims, rows + at,
                    step.train.first - step.first_row, count},
                   values.data());
    for (std::size_t j = 0; j < count; ++j) out[at + j] = make_key(values[j], rows[at + j]);
  }
}

}  // namespace

spi::Support check(const spi::RerankStep& step, const Resources&) {
  if (step.train.block == train_block || step.train.block == 1) return {};
  return {"training rows come in blocks of " + std::to_string(step.train.block) +
              " rows, but its kernels read blocks of 1 or " + std::to_string(train_block),
          0};
}

void run(const spi::RerankStep& step, const Resources& with) {
  const Lists lists{step};
  const std::size_t m = step.queries.rows, listed = lists.total(), wanted = with.team * tasks_a_thread;
  if (listed == 0) return;
  const std::size_t share = m >= wanted ? lists.capacity : (listed + wanted - 1) / wanted;
  const std::size_t part = std::max(share, least_part), parts = (lists.capacity + part - 1) / part;
  run_team(m * parts, listed * step.train.dims, with.team, [&](std::size_t task, std::size_t) {
    const std::size_t q = task / parts, begin = task % parts * part;
    const std::size_t end = std::min(lists.length(q), begin + part);
    if (begin < end) rerank_part(step, with.kernels, q, begin, end);
  });
}

}  // namespace kith::cpu
