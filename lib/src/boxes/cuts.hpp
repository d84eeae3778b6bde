// The order of rows that a device makes: cut in parts, and these halved. docs/boxes.md, section 2.
#pragma once

#include <cstdint>
#include <vector>

#include "kith/matrix_view.hpp"
#include "kith/spi/boxes.hpp"

namespace kith {

/// spi::OrderStep::cuts of n rows of which these are a sample: again and again the column in which the middle
/// 99 % reach furthest is cut, until parts have spi::part_rows places. None where n are no more.
///   sample  [s, dims]  finite, s > 0
std::vector<spi::Cut> cuts_for(MatrixView<const float> sample, std::uint32_t n);

/// The row in each place after such cuts, as spi::OrderStep says.
///   rows  [n, dims]
std::vector<std::uint32_t> order_by_cuts(MatrixView<const float> rows, const std::vector<spi::Cut>& cuts);

/// Put the rows of each spi::part_rows places in k-d order among themselves, as spi::PackBoxesStep says.
///   rows     [n, dims]
///   numbers  [p]  the row in each place
void halve_parts(MatrixView<const float> rows, std::vector<std::uint32_t>& numbers);

}  // namespace kith
