#include "rows/copies/row_copies.hpp"

#include <algorithm>
#include <limits>

namespace kith {

RowCopies::RowCopies(std::vector<std::uint32_t> distinct_of)
    : distinct_of_(std::move(distinct_of)), places_(distinct_of_.size()) {
  std::uint32_t distinct = 0;
  for (const std::uint32_t d : distinct_of_) distinct = std::max(distinct, d + 1);
  begin_.assign(std::size_t{distinct} + 1, 0);
  for (const std::uint32_t d : distinct_of_) ++begin_[d + 1];
  for (std::size_t d = 0; d < distinct; ++d) begin_[d + 1] += begin_[d];
  std::vector<std::uint32_t> next(begin_.begin(), begin_.end() - 1);
  for (std::size_t place = 0; place < distinct_of_.size(); ++place)
    places_[next[distinct_of_[place]]++] = static_cast<std::uint32_t>(place);
}

RowCopies RowCopies::with(const RowCopies& more) const {
  std::vector<std::uint32_t> all = distinct_of_;
  all.reserve(all.size() + more.distinct_of_.size());
  for (const std::uint32_t d : more.distinct_of_) all.push_back(static_cast<std::uint32_t>(distinct()) + d);
  return RowCopies(std::move(all));
}

std::pair<RowCopies, std::vector<std::int64_t>> RowCopies::subset(
    std::span<const std::int64_t> places) const {
  constexpr std::uint32_t none = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> number(begin_.size() - 1, none), distinct_of;
  std::vector<std::int64_t> kept;
  distinct_of.reserve(places.size());
  for (const std::int64_t place : places) {
    const std::uint32_t before = this->distinct_of(place);
    if (number[before] == none) {
      number[before] = static_cast<std::uint32_t>(kept.size());
      kept.push_back(before);
    }
    distinct_of.push_back(number[before]);
  }
  return {RowCopies(std::move(distinct_of)), std::move(kept)};
}

}  // namespace kith
