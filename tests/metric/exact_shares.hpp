// Compares rows of bits by quotients of whole numbers, which are never rounded: the order that
// docs/contract.md, section 1, promises of metrics of two sums.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "common/data.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/rows_view.hpp"

namespace kith::tests {

/// A distance p / q, and the row that has it.
struct ExactShare {
  std::int64_t p, q, row;

  bool operator<(const ExactShare& other) const {
    const std::int64_t here = p * other.q, there = other.p * q;
    return here != there ? here < there : row < other.row;
  }
  float shown() const { return static_cast<float>(static_cast<double>(p) / static_cast<double>(q)); }
};

/// Returns the distance of two rows of `cols` bits; what follows in their last byte is ignored.
inline ExactShare exact_share(Metric metric, const unsigned char* a, const unsigned char* b,
                              std::int64_t cols) {
  std::int64_t i = 0, h = 0;
  for (std::int64_t c = 0; c < cols; c += 8) {
    const unsigned counts = cols - c >= 8 ? 0xFFu : 0xFFu << (8 - (cols - c)) & 0xFFu;
    i += std::popcount(a[c / 8] & b[c / 8] & counts);
    h += std::popcount(static_cast<unsigned>(a[c / 8] ^ b[c / 8]) & counts);
  }
  const auto share = [](std::int64_t p, std::int64_t q) { return ExactShare{p, p == 0 ? 1 : q, 0}; };
  switch (metric) {
    case Metric::dice:
      return share(h, 2 * i + h);
    case Metric::sokalsneath:
      return share(2 * h, i + 2 * h);
    case Metric::rogerstanimoto:
      return share(2 * h, cols + h);
    case Metric::russellrao:
      return share(cols - i, cols);
    default:
      return share(h, i + h);
  }
}

/// Returns all training rows for a query, nearest first.
inline std::vector<ExactShare> exact_shares(Metric metric, const RowsView& queries, std::int64_t query,
                                            const RowsView& train) {
  std::vector<ExactShare> all;
  for (std::int64_t t = 0; t < train.rows; ++t) {
    all.push_back(exact_share(metric, queries.row(query), train.row(t), train.cols));
    all.back().row = t;
  }
  std::sort(all.begin(), all.end());
  return all;
}

/// Returns the expected result of a search, bit for bit.
inline Neighbors nearest_by_shares(Metric metric, const RowsView& queries, const RowsView& train,
                                   std::int64_t k) {
  Neighbors found{queries.rows, k, {}, {}};
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const std::vector<ExactShare> all = exact_shares(metric, queries, q, train);
    for (std::size_t j = 0; j < size(k); ++j) {
      found.distance.push_back(all[j].shown());
      found.row.push_back(all[j].row);
    }
  }
  return found;
}

}  // namespace kith::tests
