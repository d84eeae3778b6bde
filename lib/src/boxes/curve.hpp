// The Hilbert curve that a device puts queries in order along. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

/// Numbers of rows, spread evenly, that tell where a frame lies.
std::vector<std::uint32_t> rows_for_frame(std::uint32_t n);

/// Between which two values of a column the middle 99 % of rows lie.
struct Middle {
  double low, high;
};
/// Of each column by which rows are put in order.
///   sample  [s, dims]  finite, s > 0
std::vector<Middle> middles_of(MatrixView<const float> sample);

/// spi::OrderStep::frame of rows of which these are a sample: cells of one size in all columns, so many that
/// the column in which the middle 99 % of the rows reach furthest has all that its bits tell apart. What is
/// far outside shares the outermost cells.
///   sample  [s, dims]  finite, s > 0
std::vector<float> curve_frame(MatrixView<const float> sample);

/// The place of a row along the curve, a number of curve_columns(dims) * curve_bits(dims) bits.
///   row    [dims]
///   frame  as curve_frame() makes it
/// Source: Skilling, Programming the Hilbert curve, 2004.
std::uint64_t place_along_curve(const float* row, std::uint32_t dims, const float* frame);

}  // namespace kith
