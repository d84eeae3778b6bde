// A grid on which elements of rows are: c + b i with whole i from -128 to 127. Rows of bytes are on one, and
// so are many rows of floats that were made from bytes. docs/certificate.md, section 4.
#pragma once

namespace kith {

struct ByteGrid {
  float centre = 0;    ///< c
  float scale = 0;     ///< 1 / b; 0: there is no grid
  bool exact = false;  ///< b is a power of two, and every c + b i is computed without rounding

  bool there() const { return scale != 0; }
  double step() const { return 1 / static_cast<double>(scale); }
};

}  // namespace kith
