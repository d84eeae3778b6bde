#include "rows/labels/distinct.hpp"

#include <algorithm>

namespace kith {
namespace {

void sort_out(std::vector<std::int64_t>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

/// Merges the values of `found` into `known`, which is ascending, and empties `found`.
void join(std::vector<std::int64_t>& known, std::vector<std::int64_t>& found) {
  sort_out(found);
  const auto before = static_cast<std::ptrdiff_t>(known.size());
  known.insert(known.end(), found.begin(), found.end());
  std::inplace_merge(known.begin(), known.begin() + before, known.end());
  found.clear();
}

}  // namespace

std::vector<std::int64_t> distinct(std::span<const std::int64_t> values) {
  // New values are collected until they are as many as the known ones, so that each is moved only a
  // few times.
  constexpr std::size_t fewest = std::size_t{1} << 12;
  std::vector<std::int64_t> known, found;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = values[i];
    if (i > 0 && value == values[i - 1]) continue;
    if (std::binary_search(known.begin(), known.end(), value)) continue;
    found.push_back(value);
    if (found.size() >= std::max(fewest, known.size())) join(known, found);
  }
  join(known, found);
  return known;
}

}  // namespace kith
