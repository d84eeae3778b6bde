#include "lab/stages/plain_classes.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "kith/key.hpp"

namespace kith::workloads {
namespace {

std::uint64_t bits_of(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

/// The distances of one query to one class, in the order of the columns.
struct Sum {
  float smallest = std::numeric_limits<float>::infinity(), high = 0, low = 0;

  void add(float x) {
    if (x == 0) x = 0;  // without a sign
    smallest = std::fmin(smallest, x);
    const float sum = high + x;
    // What rounding lost is a float, and comes out of one subtraction from the larger (Dekker 1971).
    if (std::isfinite(sum)) low += std::fabs(high) >= std::fabs(x) ? x - (sum - high) : high - (sum - x);
    high = sum;
  }
};

}  // namespace

void plain_votes(const Operation& o, const Operands& operands, StageResult& result) {
  for (std::int64_t q = 0; q < o.m; ++q) {
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(o.classes));
    bool voted = false;
    for (std::int64_t j = 0; j < o.k; ++j) {
      const Key key = operands.nearest[static_cast<std::size_t>(q * o.k + j)];
      if (key == no_key) continue;
      ++counts[operands.labels[row_of(key)]];
      voted = true;
    }
    const auto winner = std::max_element(counts.begin(), counts.end()) - counts.begin();
    result.cells.push_back(voted ? static_cast<std::uint64_t>(winner) : no_row);
    result.cells.insert(result.cells.end(), counts.begin(), counts.end());
  }
}

void plain_masked(const Operation& o, const Operands& operands, StageResult& result) {
  const auto words = static_cast<std::size_t>((o.n + 31) / 32);
  for (std::int64_t q = 0; q < o.m; ++q)
    for (std::int64_t t = 0; t < o.n; ++t) {
      const std::size_t filter = operands.filter.size() == words ? 0 : static_cast<std::size_t>(q);
      const std::uint32_t word = operands.filter[filter * words + static_cast<std::size_t>(t / 32)];
      const bool counts = word / (1u << t % 32) % 2 == 1;
      result.cells.push_back(counts ? bits_of(operands.distances(q, t)) : 0x7FFFFFFFu);
    }
}

void plain_tallied(const Operation& o, const Operands& operands, StageResult& result) {
  for (std::int64_t q = 0; q < o.m; ++q) {
    std::vector<float> sums(static_cast<std::size_t>(o.classes));
    for (std::int64_t j = 0; j < o.k; ++j) {
      const auto at = static_cast<std::size_t>(q * o.k + j);
      const Key key = operands.nearest[at];
      if (key != no_key) sums[operands.labels[row_of(key)]] += operands.weights[at];
    }
    for (const float sum : sums) result.cells.push_back(bits_of(sum));
  }
}

void plain_accumulated(const Operation& o, const Operands& operands, StageResult& result) {
  for (std::int64_t q = 0; q < o.m; ++q) {
    std::vector<Sum> sums(static_cast<std::size_t>(o.classes));
    for (std::int64_t t = 0; t < o.n; ++t)
      sums[operands.labels[static_cast<std::size_t>(t)]].add(operands.distances(q, t));
    for (const Sum& sum : sums) result.cells.push_back(bits_of(sum.smallest));
    for (const Sum& sum : sums) result.cells.push_back(bits_of(sum.high));
    for (const Sum& sum : sums) result.cells.push_back(bits_of(sum.low));
  }
}

}  // namespace kith::workloads
