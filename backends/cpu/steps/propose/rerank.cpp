// rerank: computes the chain of every listed candidate, as a key.
//
// Work: dims multiply-adds per candidate, or one if exact products give its chain. In blocks of 16 a row's
// values are a cache line apart, so that a candidate's chain reads the lines of its whole block; in blocks of
// 1 it reads only its own. If queries are few, tasks are parts of lists.
#include <array>
#include <string>

#include "cpu/steps/propose/bounds.hpp"
#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"
#include "kith/spi/refusals.hpp"

namespace kith::cpu {
namespace {

/// The fewest candidates of a task, and the number of values that are buffered until they become keys.
constexpr std::size_t least_part = 256;
/// The number of tasks per thread, if queries are fewer.
constexpr std::size_t reranks_a_thread = 16;

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

/// The chains of a query's candidates that exact products give.
class KnownChains {
 public:
  KnownChains(const spi::RerankStep& step, std::size_t q) : limit_(step.products.limit) {
    const spi::ExactProducts& products = step.products;
    if (products.low.cols == 0) return;
    low_ = elements(products.low) + q * products.low.stride;
    squares_ = from_products(step.metric) == FromProducts::as_squares;
    half_norm_ = elements(products.query_terms)[spi::half_norm * products.query_terms.stride + q];
  }

  /// Returns whether the chain of candidate j is known, and if so sets `value`.
  bool knows(std::size_t j, float& value) const {
    if (!low_) return false;
    value = squares_ ? 2 * (low_[j] + half_norm_) : low_[j];
    return !squares_ || value < limit_;
  }

 private:
  const float* low_ = nullptr;
  float half_norm_ = 0, limit_;
  bool squares_ = false;
};

/// Ranks candidates begin .. end - 1 of query q; computes the chains that products do not give.
void rerank_part(const spi::RerankStep& step, const Kernels& kernels, std::size_t q, std::size_t begin,
                 std::size_t end) {
  const std::size_t row = step.queries.first + q, dims = step.train.dims;
  const float* const query =
      elements(step.queries) + row / query_block * dims * query_block + row % query_block;
  const std::uint32_t* const rows = elements(step.candidates.rows) + q * step.candidates.rows.stride;
  Key* const out = elements(step.out) + q * step.out.stride;
  const KnownChains known(step, q);
  std::array<float, least_part> values;
  std::array<std::uint32_t, least_part> left, places;
  for (std::size_t at = begin; at < end;) {
    std::size_t count = 0;
    for (; at < end && count < left.size(); ++at) {
      float value = 0;
      if (known.knows(at, value)) {
        out[at] = make_key(value, rows[at]);
      } else {
        left[count] = rows[at];
        places[count++] = static_cast<std::uint32_t>(at);
      }
    }
    if (count == 0) continue;
    kernels.rerank({step.metric, query, elements(step.train), step.train.block, dims, left.data(),
                    step.train.first - step.first_row, count},
                   values.data());
    for (std::size_t j = 0; j < count; ++j) out[places[j]] = make_key(values[j], left[j]);
  }
}

}  // namespace

spi::Support check(const spi::RerankStep& step, const Resources&) {
  if (step.train.block == 1) return {};
  return {spi::refusal_of_block("training rows", step.train, train_block), 0};
}

void run(const spi::RerankStep& step, const Resources& with) {
  const Lists lists{step};
  const std::size_t m = step.queries.rows, listed = lists.total(), wanted = with.team * reranks_a_thread;
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
