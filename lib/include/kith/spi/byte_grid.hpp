// Rows whose elements are bytes, but for where 0 is and how long a step is: c + b i with whole i of -128 to
// 127. docs/certificate.md, section 4, says what is exact about them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/metric.hpp"

namespace kith::spi {

/// What the quantized rows of int8 are.
enum class OnGrid : std::uint8_t {
  no,      ///< scaled and rounded, from -127 to 127; a device may keep those of queries smaller
  nearly,  ///< numbers i of a grid, -128 ... 127, and not all rows lie on it
  exactly  ///< the same, and `scale` is a power of two; where they are multiplied, all rows lie on it
};

inline constexpr int least_on_grid = -128, most_on_grid = 127;

/// Up to it every whole number is a float.
inline constexpr std::int64_t most_exact = std::int64_t{1} << 24;

/// Columns up to which |i|^2, and every product of two such rows, is at most most_exact.
inline constexpr std::size_t most_exact_dims =
    static_cast<std::size_t>(most_exact / (std::int64_t{least_on_grid} * least_on_grid));

/// Columns up to which no partial sum of a chain of rows on a grid is above most_exact, in steps of the grid:
/// i differ by 255 at most.
constexpr std::size_t columns_of_exact_chains(Metric metric) {
  constexpr std::int64_t apart = most_on_grid - least_on_grid;
  return metric == Metric::negative_dot ? most_exact_dims
                                        : static_cast<std::size_t>(most_exact / (apart * apart));
}

}  // namespace kith::spi
