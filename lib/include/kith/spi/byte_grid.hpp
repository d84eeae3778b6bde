// Defines rows on a grid of bytes: their elements are c + b i with whole i from -128 to 127.
// docs/certificate.md, section 4, says what is exact for them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/metric.hpp"

namespace kith::spi {

/// Says how exact quantized rows of int8 are.
enum class OnGrid : std::uint8_t {
  no,      ///< scaled and rounded, from -127 to 127; a device may use a smaller scale for queries
  nearly,  ///< numbers i of a grid, -128 ... 127, but not all rows lie on it
  exactly  ///< as above, `scale` is a power of two, and all rows of a product lie on the grid
};

inline constexpr int least_on_grid = -128, most_on_grid = 127;
/// A half byte is a whole number from -most_half_byte to most_half_byte. It is multiplied as a byte, by this
/// unit.
inline constexpr int most_half_byte = 7, half_byte_unit = 16;

/// Up to this number every whole number is a float.
inline constexpr std::int64_t most_exact = std::int64_t{1} << 24;

/// The most columns for which |i|^2, and every product of two such rows, is at most most_exact.
inline constexpr std::size_t most_exact_dims =
    static_cast<std::size_t>(most_exact / (std::int64_t{least_on_grid} * least_on_grid));

/// Returns the most columns for which no partial sum of a chain of rows on a grid exceeds most_exact, in
/// steps of the grid. Two i differ by at most 255.
constexpr std::size_t columns_of_exact_chains(Metric metric) {
  constexpr std::int64_t apart = most_on_grid - least_on_grid;
  return metric == Metric::negative_dot ? most_exact_dims
                                        : static_cast<std::size_t>(most_exact / (apart * apart));
}

}  // namespace kith::spi
