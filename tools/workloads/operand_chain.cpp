#include "workloads/operand_chain.hpp"

#include <algorithm>
#include <bit>

#include "workloads/random.hpp"

namespace kith::workloads {
namespace {

/// Returns word w of filter q, whose bits say which of 32 rows count.
std::uint32_t filter_word(std::uint64_t series, std::uint64_t q, std::uint64_t w) {
  const std::uint64_t bits = random_bits(random_bits(series, q), w);
  const auto one = static_cast<std::uint32_t>(bits), other = static_cast<std::uint32_t>(bits >> 32);
  switch (random_bits(series, q) % 4) {
    case 0:
      return one;
    case 1:
      return one & other & (one >> 7);
    case 2:
      return one | other | (one >> 7);
    default:
      return bits % 3 == 0 ? 0 : 0xFFFFFFFFu;
  }
}

}  // namespace

RankedLabels::RankedLabels(const std::vector<std::int64_t>& of) : classes(of) {
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  for (const std::int64_t label : of)
    labels.push_back(static_cast<std::uint32_t>(std::lower_bound(classes.begin(), classes.end(), label) -
                                                classes.begin()));
}

OperandChain::OperandChain(const Operation& sizes, Rows train, Rows queries,
                           const std::vector<std::int64_t>& labels, std::uint64_t seed, Run run)
    : train_(std::move(train)),
      queries_(std::move(queries)),
      labels_(labels),
      sizes_(sizes),
      run_(std::move(run)) {
  sizes_.n = train_.rows();
  sizes_.m = queries_.rows();
  sizes_.dims = train_.dims();
  sizes_.lists = std::min(sizes_.lists, sizes_.n);
  sizes_.classes = static_cast<std::int64_t>(labels_.classes.size());
  sizes_.capacity = std::min(sizes_.n, 2 * sizes_.k + 64);
  const auto m = static_cast<std::uint64_t>(sizes_.m), k = static_cast<std::uint64_t>(sizes_.k);
  const std::uint64_t filters = random_bits(scramble(seed), 4), weighing = random_bits(scramble(seed), 5);
  const std::uint64_t words = (labels_.labels.size() + 31) / 32;
  for (std::uint64_t q = 0; q < m; ++q)
    for (std::uint64_t w = 0; w < words; ++w) filter_.push_back(filter_word(filters, q, w));
  for (std::uint64_t i = 0; i < m * k; ++i) {
    const std::uint64_t bits = random_bits(weighing, i);
    weights_.push_back(bits % 16 == 0 ? 0.0f : uniform(bits));
  }
  empty_.assign(m * k, no_key);
  operands_.train = train_.view();
  operands_.queries = queries_.view();
  operands_.labels = labels_.labels;
  operands_.filter = filter_;
  operands_.weights = weights_;
  operands_.best = empty_;
}

Operation OperandChain::operation(Stage stage) const {
  Operation operation = sizes_;
  operation.stage = stage;
  return operation;
}

const StageResult& OperandChain::result(Stage stage) {
  const auto found = results_.find(stage);
  if (found != results_.end()) return found->second;
  ready(stage);
  return results_.emplace(stage, run_(operation(stage), operands_)).first->second;
}

/// Computes what a stage reads, unless it was computed before.
void OperandChain::ready(Stage stage) {
  switch (stage) {
    case Stage::distance:
    case Stage::nearest:
      return;
    case Stage::select:
    case Stage::mask:
    case Stage::accumulate:
      if (!distances_.empty()) return;
      for (const std::uint64_t cell : result(Stage::distance).cells)
        distances_.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(cell)));
      operands_.distances = {distances_.data(), sizes_.m, sizes_.n};
      return;
    case Stage::merge:
      operands_.lists = result(Stage::select).cells;
      return;
    case Stage::vote:
    case Stage::score:
      operands_.nearest = result(Stage::merge).cells;
      return;
    case Stage::collect: {
      const auto& nearest = result(Stage::merge).cells;
      const auto k = static_cast<std::size_t>(sizes_.k);
      threshold_.clear();
      for (std::size_t last = k - 1; last < nearest.size(); last += k)
        threshold_.push_back(value_of(nearest[last]));
      operands_.threshold = threshold_;
      return;
    }
    case Stage::rerank:
      if (counts_.empty()) keep_candidates(result(Stage::collect));
      return;
    case Stage::tighten:
      operands_.keys = result(Stage::rerank).cells;
      return;
  }
}

/// Keeps lists of candidates as rerank reads them. A list that was too short has undefined rows, and gets the
/// first training rows instead.
void OperandChain::keep_candidates(const StageResult& collected) {
  const auto capacity = static_cast<std::uint64_t>(sizes_.capacity);
  for (auto cell = collected.cells.begin(); cell != collected.cells.end();) {
    const std::uint64_t count = *cell++;
    counts_.push_back(static_cast<std::uint32_t>(count));
    for (std::uint64_t j = 0; j < capacity; ++j, ++cell)
      candidates_.push_back(static_cast<std::uint32_t>(count > capacity ? j : *cell));
  }
  operands_.counts = counts_;
  operands_.candidates = candidates_;
}

}  // namespace kith::workloads
