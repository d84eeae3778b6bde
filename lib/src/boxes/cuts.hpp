// The order of rows that a device makes: it cuts the rows into parts, and halves these. docs/boxes.md,
// section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/spi/boxes.hpp"

namespace kith {

/// Makes spi::OrderStep::cuts for n rows from a sample. It repeatedly cuts the column whose middle 99 % are
/// widest, until parts have spi::part_rows places. The result is empty if n is at most spi::part_rows.
///   sample  [s, dims]  finite, s > 0
std::vector<spi::Cut> cuts_for(MatrixView<const float> sample, std::uint32_t n);

/// Returns the row at each place after these cuts, as spi::OrderStep defines it.
///   rows  [n, dims]
std::vector<std::uint32_t> order_by_cuts(MatrixView<const float> rows, const std::vector<spi::Cut>& cuts);

/// Sorts the rows of each spi::part_rows places into k-d order, as spi::PackBoxesStep defines it.
///   rows     [n, dims]
///   numbers  [p]  the row at each place
void halve_parts(MatrixView<const float> rows, std::vector<std::uint32_t>& numbers);

}  // namespace kith
