// Detects from a sample whether training rows are on a grid of bytes, and checks whether others are. Answers
// do not depend on the result, because the distance between rows and their quantized rows is measured.
// docs/certificate.md, section 4.
#pragma once

#include <cstdint>

#include "certified/few_values.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "kith/spi/byte_grid.hpp"
#include "rows/landed/byte_grid.hpp"

namespace kith {

/// Returns a grid that contains rows with these values, to within a few units in the last place; none if
/// there is no such grid, or if the metric cannot use one.
///   values   of a sample of the rows, in any order
///   element  of all rows; for u8 and i8 the grid is known
ByteGrid grid_of_values(const FewValues& values, Metric metric, Element element);

/// Returns whether all rows are on an exact grid; false if it is not exact.
bool lie_on(const ByteGrid& grid, MatrixView<const float> rows, std::uint32_t threads);
/// Returns whether all rows are close to the grid.
bool lie_near(const ByteGrid& grid, MatrixView<const float> rows);

}  // namespace kith
