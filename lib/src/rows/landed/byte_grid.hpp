// A grid on which elements of rows are: c + b i with whole i from -128 to 127. Rows of bytes are on one, and
// so are many rows of floats that were made from bytes. docs/certificate.md, section 4.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "kith/rows_view.hpp"
#include "kith/spi/landing.hpp"

namespace kith {

struct ByteGrid {
  float centre = 0;    ///< c
  float scale = 0;     ///< 1 / b; 0: there is no grid
  bool exact = false;  ///< b is a power of two, and every c + b i is computed without rounding

  bool there() const { return scale != 0; }
  double step() const { return 1 / static_cast<double>(scale); }
  bool operator==(const ByteGrid&) const = default;
};

/// Returns whether every point c + b i of the grid is also a float; for this, c must be a whole number
/// of steps.
bool is_of_floats(const ByteGrid& grid);

/// Returns the grid as devices compare values to it; none if is_of_floats() is false.
spi::FloatGrid float_grid(const ByteGrid& grid);

/// Returns whether all elements of a row are points of a grid of floats.
bool lies_on(const ByteGrid& grid, const float* row, std::int64_t dims);

/// Returns the bytes that all points of the grid are, u8 or i8; nothing if they are other numbers.
std::optional<Element> element_of(const ByteGrid& grid);

/// Writes a row as such bytes. Returns whether they equal it, bit for bit.
bool to_bytes(Element element, const float* row, std::int64_t dims, unsigned char* bytes);

/// Returns the bits of the largest |row[d] - centre[d]|, which have the order of the floats.
std::int32_t range_bits(const float* row, const std::vector<float>& centre);

}  // namespace kith
