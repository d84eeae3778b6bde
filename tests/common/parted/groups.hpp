// Groups of rows for tests.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "common/oracle.hpp"

namespace kith::tests {

using Borders = std::vector<std::int64_t>;

/// Returns the borders of groups of these sizes.
inline Borders borders_from(const std::vector<std::int64_t>& sizes) {
  Borders borders{0};
  for (const std::int64_t size : sizes) borders.push_back(borders.back() + size);
  return borders;
}

/// Returns random groups; some are empty, some have one row, and one has many.
inline Borders random_borders(std::int64_t groups, std::int64_t most, std::int64_t huge,
                              std::mt19937& random) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t g = 0; g < groups; ++g) {
    const auto kind = random() % 6;
    sizes.push_back(kind == 0 ? 0 : kind == 1 ? 1 : static_cast<std::int64_t>(random()) % most);
  }
  sizes[random() % sizes.size()] = huge;
  return borders_from(sizes);
}

/// Returns rows first ... end - 1.
inline Matrix rows_between(const Matrix& rows, std::int64_t first, std::int64_t end) {
  const auto begin = rows.values.begin();
  return {end - first, rows.cols, std::vector<float>(begin + first * rows.cols, begin + end * rows.cols)};
}

}  // namespace kith::tests
