#include "search/lists/count_sum.hpp"

#include <utility>

#include "base/numbers.hpp"
#include "rows/rows.hpp"

namespace kith {

CountSum::CountSum(std::string where, std::int64_t queries, std::int64_t radii, bool totals)
    : where_(std::move(where)),
      radii_(radii),
      totals_(totals),
      counts_(cells_of(totals ? 1 : queries, radii)) {}

/// Returns where the counts of a query begin.
std::size_t CountSum::row_of(std::int64_t query) const {
  return totals_ ? 0 : size(query * radii_);
}

void CountSum::add(std::int64_t first, MatrixView<const std::uint32_t> counts) {
  const std::lock_guard lock(mutex_);
  for (std::int64_t q = 0; q < counts.rows(); ++q)
    for (std::int64_t r = 0; r < radii_; ++r) counts_[row_of(first + q) + size(r)] += counts(q, r);
}

void CountSum::add_sum(std::int64_t first, const CountSum& some) {
  const std::lock_guard lock(mutex_);
  for (std::size_t i = 0; i < some.counts_.size(); ++i) counts_[row_of(first) + i] += some.counts_[i];
}

void CountSum::take_away(std::int64_t query, std::int64_t r) {
  const std::lock_guard lock(mutex_);
  for (; r < radii_; ++r) --counts_[row_of(query) + size(r)];
}

}  // namespace kith
