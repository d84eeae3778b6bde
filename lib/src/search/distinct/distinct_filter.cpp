#include "search/distinct/distinct_filter.hpp"

#include <algorithm>
#include <atomic>

#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "rows/row_filter.hpp"

namespace kith {
namespace {

constexpr std::int64_t distinct_a_word = 32;

/// Returns the word of distinct rows first, first + 1, ...
///   changed  [out]  is set if the first copy of one of them does not count, while another does
std::uint32_t word_of(const RowCopies& copies, const std::uint32_t* filter, std::int64_t first,
                      std::atomic<bool>& changed) {
  std::uint32_t word = 0;
  for (std::int64_t d = first; d < std::min(first + distinct_a_word, copies.distinct()); ++d) {
    const auto places = copies.of(d);
    const auto one = std::find_if(places.begin(), places.end(),
                                  [&](std::uint32_t place) { return counts(filter, place); });
    if (one == places.end()) continue;
    word |= 1u << (d - first);
    if (one != places.begin()) changed.store(true, std::memory_order_relaxed);
  }
  return word;
}

}  // namespace

DistinctFilter::DistinctFilter(const RowCopies& copies, MatrixView<const std::uint32_t> filter)
    : filter_(filter),
      words_a_filter_(words_of_filter(copies.distinct())),
      words_(size(filter.rows() * words_a_filter_)),
      changed_(size(filter.rows())) {
  for (std::int64_t f = 0; f < filter.rows(); ++f) {
    std::atomic<bool> changed = false;
    parallel_for(words_a_filter_, copies.distinct(), 0, [&](std::int64_t w) {
      words_[size(f * words_a_filter_ + w)] = word_of(copies, filter.row(f), w * distinct_a_word, changed);
    });
    changed_[size(f)] = changed ? 1 : 0;
  }
}

MatrixView<const std::uint32_t> DistinctFilter::words() const {
  if (filter_.rows() == 0) return {};
  return {words_.data(), filter_.rows(), words_a_filter_};
}

bool DistinctFilter::changes_order() const {
  return std::find(changed_.begin(), changed_.end(), 1) != changed_.end();
}

}  // namespace kith
