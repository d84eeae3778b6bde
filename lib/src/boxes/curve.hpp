// The Hilbert curve along which a device sorts rows and queries. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

/// Returns the numbers of rows from which curve_frame() is made, spread evenly over all n.
std::vector<std::uint32_t> rows_for_frame(std::uint32_t n);

/// The interval of a column that holds the middle 99 % of its rows.
struct Middle {
  double low, high;
};
/// Returns for each column the interval that determines the order of rows.
///   sample  [s, dims]  finite, s > 0
std::vector<Middle> middles_of(MatrixView<const float> sample);

/// Makes spi::OrderStep::frame from a sample of the rows. Cells have the same size in all columns; in the
/// widest column the middle 99 % of the rows span all cells that its bits can tell apart. Outliers share the
/// outermost cells.
///   sample  [s, dims]  finite, s > 0
std::vector<float> curve_frame(MatrixView<const float> sample);

/// Returns the place of a row along the curve, a number of curve_columns(dims) * curve_bits(dims) bits.
///   row    [dims]
///   frame  made by curve_frame()
/// Source: Skilling, Programming the Hilbert curve, 2004.
std::uint64_t place_along_curve(const float* row, std::uint32_t dims, const float* frame);

}  // namespace kith
