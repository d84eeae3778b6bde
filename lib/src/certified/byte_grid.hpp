// Recognises by a sample that training rows lie on a grid of bytes, and checks whether queries do. Answers do
// not depend on what is found, since the distance of rows from their quantized rows is measured.
// docs/certificate.md, section 4.
#pragma once

#include <cstdint>

#include "certified/few_values.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "kith/spi/byte_grid.hpp"
#include "rows/byte_grid.hpp"

namespace kith {

/// Returns the grid on which rows of these values lie, to within a few units in the last place; none if there
/// is no such grid, or if the metric cannot use one.
///   values   of a sample of the rows, in any order
///   element  of all rows; the grid of u8 and i8 is known
ByteGrid grid_of_values(const FewValues& values, Metric metric, Element element);

/// Returns `exactly` if all rows lie on the grid, `nearly` if those of a sample are close to it, else `no`.
spi::OnGrid place_on_grid(const ByteGrid& grid, MatrixView<const float> rows, std::uint32_t threads);

}  // namespace kith
