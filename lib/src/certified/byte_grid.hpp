// Grids of bytes: recognised by a sample of the training rows, and looked for in queries. The answer does not
// depend on what is found: how far rows are from their quantized rows is measured. docs/certificate.md,
// section 4.
#pragma once

#include <cstdint>

#include "certified/few_values.hpp"
#include "kith/matrix_view.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "kith/spi/byte_grid.hpp"
#include "rows/byte_grid.hpp"

namespace kith {

/// The grid that rows of these values lie on, to within a few units in the last place; none where there is no
/// such grid, or the metric has no use for one.
///   values   at least one, in any order; of a sample
///   element  of all rows: of u8 and i8 the grid is known
ByteGrid grid_of_values(const FewValues& values, Metric metric, Element element);

/// Whether all of the rows lie on a grid, `exactly`, or those of a sample come near it.
spi::OnGrid place_on_grid(const ByteGrid& grid, MatrixView<const float> rows, std::uint32_t threads);

}  // namespace kith
