// Conversions between the signed 64-bit counts of the library and the unsigned sizes of memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith {

inline std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

inline std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Returns the number of rows of each part: `a_part`, and in the last part those that are left.
inline std::vector<std::int64_t> counts_of_parts(std::int64_t rows, std::int64_t a_part) {
  std::vector<std::int64_t> counts;
  for (std::int64_t first = 0; first < rows; first += a_part)
    counts.push_back(std::min(a_part, rows - first));
  return counts;
}

}  // namespace kith
