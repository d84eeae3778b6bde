// Lists candidates, ranks them and tightens the threshold.
#include <algorithm>
#include <span>
#include <vector>

#include "check/plain/plain_memory.hpp"
#include "check/plain/plain_steps.hpp"
#include "metric/chain.hpp"

namespace kith::spi {
namespace {

/// Returns the number of candidates in the list of query q.
std::size_t listed(const Grid<std::uint32_t>& counts, std::size_t q, std::size_t capacity) {
  return std::min<std::size_t>(*row_of_grid(counts, q), capacity);
}

}  // namespace

void plain(const CollectStep& s) {
  for (std::size_t q = 0; q < s.values.rows; ++q) {
    std::uint32_t& count = *row_of_grid(s.out.counts, q);
    for (std::size_t t = 0; t < s.values.cols; ++t) {
      if (!(row_of_grid(s.values, q)[t] <= *row_of_grid(s.threshold, q))) continue;
      if (count < s.out.rows.cols)
        row_of_grid(s.out.rows, q)[count] = s.first_row + static_cast<std::uint32_t>(t);
      ++count;
    }
  }
}

void plain(const RerankStep& s) {
  for (std::size_t q = 0; q < s.queries.rows; ++q)
    for (std::size_t j = 0; j < listed(s.candidates.counts, q, s.out.cols); ++j) {
      const std::uint32_t t = row_of_grid(s.candidates.rows, q)[j];
      row_of_grid(s.out, q)[j] =
          make_key(chain(s.metric, row_at(s.queries, q), row_at(s.train, t - s.first_row)), t);
    }
}

void plain(const DoubleChainsStep& s) {
  const std::size_t dims = s.train.cols;
  std::span<const double> terms;
  if (s.terms.cols > 0) terms = {row_of_grid(s.terms, 0), dims};
  for (std::size_t q = 0; q < s.rows.rows; ++q)
    for (std::size_t j = 0; j < s.rows.cols; ++j) {
      const std::uint32_t row = row_of_grid(s.rows, q)[j] - s.first_row;
      if (row < s.train.rows)
        row_of_grid(s.values, q)[j] =
            chain(s.metric, std::span<const double>(row_of_grid(s.queries, q), dims),
                  std::span<const double>(row_of_grid(s.train, row), dims), terms);
    }
}

void plain(const TightenStep& s) {
  for (std::size_t q = 0; q < s.best.rows; ++q) {
    Key* const best = row_of_grid(s.best, q);
    const Key* const keys = row_of_grid(s.keys, q);
    std::vector<Key> all(best, best + s.k);
    all.insert(all.end(), keys, keys + listed(s.counts, q, s.keys.cols));
    put_smallest(std::move(all), s.k, best);
    *row_of_grid(s.threshold, q) = kith::value_of(best[s.k - 1]);
    std::uint32_t& count = *row_of_grid(s.counts, q);
    if (count > s.keys.cols) *row_of_grid(s.lost, q) = 1;
    count = 0;
  }
}

}  // namespace kith::spi
