#include "search/lists/count_sum.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/numbers.hpp"
#include "host/parallel.hpp"

namespace kith {

CountSum::CountSum(std::string where, std::int64_t radii, bool totals, std::span<std::int64_t> counts,
                   std::uint32_t threads)
    : where_(std::move(where)), radii_(radii), totals_(totals), threads_(threads), counts_(counts) {}

/// Makes the counts of queries known_ ... query - 1 zero. The caller holds the lock.
void CountSum::fill_up_to(std::int64_t query) {
  if (query <= known_) return;
  if (!totals_) std::fill(counts_.begin() + known_ * radii_, counts_.begin() + query * radii_, 0);
  known_ = query;
}

void CountSum::add(std::int64_t first, MatrixView<const std::uint32_t> counts) {
  constexpr std::int64_t at_once = 1 << 12;  // queries
  const std::lock_guard lock(mutex_);
  fill_up_to(first);
  const std::int64_t known = std::max(known_ - first, std::int64_t{0}) * radii_, m = counts.rows();
  known_ = std::max(known_, first + m);
  parallel_for(divide_up(m, at_once), m * radii_, threads_, [&](std::int64_t share) {
    const std::int64_t begin = share * at_once * radii_, end = std::min((share + 1) * at_once, m) * radii_;
    if (totals_) return add_totals({counts.data() + begin, size(end - begin)});
    const std::int64_t middle = std::clamp(known, begin, end);
    std::int64_t* const to = counts_.data() + first * radii_;
    for (std::int64_t i = begin; i < middle; ++i) to[i] += counts.data()[i];
    std::copy(counts.data() + middle, counts.data() + end, to + middle);
  });
}

/// Adds the counts of whole queries to those of all.
void CountSum::add_totals(std::span<const std::uint32_t> counts) {
  for (std::int64_t r = 0; r < radii_; ++r) {
    std::int64_t sum = 0;
    for (std::size_t i = size(r); i < counts.size(); i += size(radii_)) sum += counts[i];
    std::atomic_ref(counts_[size(r)]) += sum;
  }
}

CountSum CountSum::of_some(std::int64_t first, std::int64_t queries) {
  const std::lock_guard lock(mutex_);
  fill_up_to(first);
  known_ = std::max(known_, first + queries);
  return {where_, radii_, totals_,
          totals_ ? counts_ : counts_.subspan(size(first * radii_), size(queries * radii_)), threads_};
}

void CountSum::take_away(std::int64_t first, std::span<const std::int64_t> from) {
  std::vector<std::int64_t> sum(size(radii_));
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::int64_t* const counts = totals_ ? sum.data() : counts_.data() + first * radii_ + i * size(radii_);
    for (std::int64_t r = from[i]; r < radii_; ++r) --counts[r];
  }
  for (std::size_t r = 0; r < sum.size() && totals_; ++r) std::atomic_ref(counts_[r]) += sum[r];
}

void CountSum::finish() {
  const std::lock_guard lock(mutex_);
  if (!totals_) fill_up_to(static_cast<std::int64_t>(counts_.size()) / radii_);
}

}  // namespace kith
