// What quantized rows share: sums over a row, and the row terms of the scaled formats.
// docs/certificate.md, section 2.
#pragma once

#include "prepare/preparation.cuh"

namespace kith::cuda {

/// Sums over the dimensions of a row, or over some of them.
struct Squares {
  double moved;      // squares of x - c
  double quantized;  // squares of x~, or of sizes that are at least |x~|
  double residual;   // squares of x - c - x~

  __device__ __forceinline__ void add(double moved_by_centre, double of_quantized_rows, double size) {
    const double apart = moved_by_centre - of_quantized_rows;
    moved += moved_by_centre * moved_by_centre;
    quantized += size * size;
    residual += apart * apart;
  }
  __device__ __forceinline__ void add(double moved_by_centre, double of_quantized_rows) {
    add(moved_by_centre, of_quantized_rows, of_quantized_rows);
  }
  /// Adds a value x of a grid, for which c + x~ is computed without rounding. x - c may be rounded if x is
  /// not on the grid, but x - (c + x~) is 0 only if it is.
  __device__ __forceinline__ void add_exact(double x, double c, double of_quantized_rows) {
    const double moved_by_centre = x - c, apart = x - (c + of_quantized_rows);
    moved += moved_by_centre * moved_by_centre;
    quantized += of_quantized_rows * of_quantized_rows;
    residual += apart * apart;
  }
  __device__ __forceinline__ void add(const Squares& other) {
    moved += other.moved;
    quantized += other.quantized;
    residual += other.residual;
  }
};

/// Returns an upper bound of the root of `squares`. `margin` exceeds the sum of all relative rounding errors
/// of a sum, a product and a root, each at most 2^-53.
__device__ __forceinline__ float root_above(double squares, double margin) {
  return __double2float_ru(sqrt(squares * (1.0 + margin)));
}

/// Writes the terms of row r.
///   inexact  an upper bound of the relative error of x~ in double precision; 0 if it is exact
///   exact    the sums come from add_exact(), so that a residual of 0 is exact
__device__ inline void write_row_terms(const Preparation& preparation, std::uint32_t r, const Squares& sums,
                                       double inexact = 0, bool exact = false) {
  const Matrix<float>& row_terms = preparation.row_terms;
  const bool on_grid = exact && sums.residual == 0;
  const double margin = (static_cast<double>(preparation.rows.dims) + 8.0) * 0x1p-53;
  float* const at = row_terms.data + r;
  const float norm = root_above(sums.moved, margin);
  const float quantized_norm = root_above(sums.quantized, margin + 4.0 * inexact);
  at[spi::half_norm * row_terms.stride] =
      __double2float_rd(0.5 * (on_grid ? sums.moved : sums.moved * (1.0 - margin)));
  if (preparation.half_norms_only) return;
  at[spi::norm * row_terms.stride] = norm;
  at[spi::quantized_norm * row_terms.stride] = quantized_norm;
  // x - c was rounded to double, and so was its difference from the quantized row.
  at[spi::residual * row_terms.stride] =
      on_grid ? 0.0f
              : __double2float_ru(static_cast<double>(root_above(sums.residual, margin)) +
                                  static_cast<double>(norm) * 0x1p-51 +
                                  static_cast<double>(quantized_norm) * inexact);
}

/// Returns the place of piece p of quantized row r, in pieces.
__device__ __forceinline__ std::size_t place_of(const HalfShape& shape, std::uint32_t r, std::uint32_t p) {
  const std::uint32_t last = shape.pieces - 1, bits = __popc(last);  // the number of pieces is a power of two
  const std::uint32_t in_tile = r % tile_of_halves, turn = in_tile * shape.pieces / 8 & last;
  const std::size_t slab = std::size_t{r / tile_of_halves} * shape.slabs + (p >> bits);
  return (slab * tile_of_halves + in_tile << bits) + (p & last ^ turn);
}

/// Returns the address of row r of the memory; its dimensions are rows_a_block floats apart.
__device__ __forceinline__ const float* row_of(const Rows& rows, std::uint32_t r) {
  return rows.data + static_cast<std::size_t>(r / rows_a_block) * rows.dims * rows_a_block + r % rows_a_block;
}

}  // namespace kith::cuda
