#include "lab/stages/class_operands.hpp"

#include <algorithm>

#include "lab/workloads/random.hpp"

namespace kith::workloads {
namespace {

/// Word w of filter q: which of 32 rows count.
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

ClassOperands::ClassOperands(std::uint64_t seed, const std::vector<std::int64_t>& labels_given,
                             std::int64_t m, std::int64_t k) {
  std::vector<std::int64_t> all = labels_given;
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  classes = static_cast<std::int64_t>(all.size());
  for (const std::int64_t label : labels_given)
    labels.push_back(
        static_cast<std::uint32_t>(std::lower_bound(all.begin(), all.end(), label) - all.begin()));

  const std::uint64_t filters = random_bits(scramble(seed), 4), weighing = random_bits(scramble(seed), 5);
  const std::size_t words = (labels.size() + 31) / 32;
  for (std::uint64_t q = 0; q < static_cast<std::uint64_t>(m); ++q)
    for (std::uint64_t w = 0; w < words; ++w) filter.push_back(filter_word(filters, q, w));
  for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(m * k); ++i) {
    const std::uint64_t bits = random_bits(weighing, i);
    weights.push_back(bits % 16 == 0 ? 0.0f : uniform(bits));
  }
}

void ClassOperands::put(Operation& operation, Operands& operands) const {
  operation.classes = classes;
  operands.labels = labels;
  operands.filter = filter;
  operands.weights = weights;
}

}  // namespace kith::workloads
