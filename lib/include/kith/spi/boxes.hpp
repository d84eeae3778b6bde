// The step of a search by boxes, and how boxes lie in memory: docs/boxes.md.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "kith/key.hpp"
#include "kith/metric.hpp"
#include "kith/spi/kernel_limits.hpp"
#include "kith/spi/memory.hpp"

namespace kith::spi {

/// Boxes of a level, 0 being that of the leaves: each leaf holds box_rows rows, and each box of a higher
/// level box_rows boxes of the level below, the last of a level what is left.
constexpr std::uint32_t boxes_of_level(std::uint32_t rows, std::uint32_t level) {
  std::uint64_t count = rows;
  for (std::uint32_t l = 0; l <= level; ++l) count = (count + box_rows - 1) / box_rows;
  return static_cast<std::uint32_t>(count);
}

/// Levels of boxes over so many rows, at least one: that on top has at most box_rows boxes.
constexpr std::uint32_t box_levels(std::uint32_t rows) {
  std::uint32_t level = 0;
  while (boxes_of_level(rows, level) > box_rows) ++level;
  return level + 1;
}
static_assert(box_levels(0xFFFFFFFEu) <= most_box_levels);

/// Blocks of box_rows boxes before those of a level.
constexpr std::size_t blocks_before_level(std::uint32_t rows, std::uint32_t level) {
  std::size_t blocks = 0;
  for (std::uint32_t l = 0; l < level; ++l)
    blocks += (std::size_t{boxes_of_level(rows, l)} + box_rows - 1) / box_rows;
  return blocks;
}

/// Blocks of all levels.
constexpr std::size_t box_blocks(std::uint32_t rows) {
  return blocks_before_level(rows, box_levels(rows));
}

/// Columns by which rows are put in order: the first ones.
constexpr std::uint32_t curve_columns(std::uint32_t dims) {
  return std::min(dims, most_curve_columns);
}

/// Bits of a place along a curve, of each of these columns: as many as 64 have room for, but no more than
/// tell floats apart, and 48 in all where that is as fine.
constexpr std::uint32_t curve_bits(std::uint32_t dims) {
  constexpr std::uint32_t most_of_column = 24, few_columns = 3;
  const std::uint32_t columns = curve_columns(dims);
  return std::min(most_of_column, (columns <= few_columns ? 48 : 64) / columns);
}

/// Training rows in an order in which neighbours stand together, and the boxes around them.
struct Boxes {
  RowBlocks rows;               ///< [n, dims]  in that order, in blocks of box_rows, `first` 0
  Grid<std::uint32_t> numbers;  ///< [1, n]  the number of the training row in each place
  /// [box_blocks(n), 2 * dims * box_rows]  level by level, the leaves first: of box_rows boxes the least of
  /// each dimension, [dims, box_rows], then the largest. What stands behind the last box of a level is
  /// arbitrary.
  Grid<float> bounds;
};

/// The k nearest of the rows in boxes: the k smallest keys, whatever order boxes are visited in. A box is
/// skipped where the chain of its gaps is above the k-th value so far, or above `within`.
struct BoxesStep {
  static constexpr const char* name = "boxes";
  Metric metric;              ///< one that follows from gaps: docs/boxes.md, section 1
  RowBlocks queries;          ///< [q, dims]
  Grid<std::uint32_t> order;  ///< [1, q]  queries in an order in which neighbours follow each other; or empty
  Boxes train;                ///< read only
  std::uint32_t k;            ///< at most DeviceInfo::boxes_max_k
  Grid<std::uint32_t> filter;  ///< [1 or q, words]  as in MaskStep; empty: all rows count
  Grid<float> within;          ///< [q, 1]  rows beyond do not count; empty: all do
  std::uint32_t most_leaves;   ///< a query that would read more gives up
  Grid<Key> out;               ///< [q, k]  ascending, padded with no_key; means nothing of who gave up
  Grid<std::uint32_t> leaves;  ///< [q, 1]  leaves read; above most_leaves: gave up
  Scratch scratch;
};

/// Each part of an order is cut in 2^bits, by the values in a column.
struct Cut {
  std::uint32_t column;  ///< below curve_columns(dims)
  std::uint32_t bits;    ///< at least 1
};

/// Bits of the number that a part has before cut `i` is made.
inline std::uint32_t bits_before(const std::vector<Cut>& cuts, std::size_t i) {
  std::uint32_t bits = 0;
  for (std::size_t j = 0; j < i; ++j) bits += cuts[j].bits;
  return bits;
}

/// Rows in an order in which neighbours stand together (docs/boxes.md, section 2).
///
/// Without cuts in that of a Hilbert curve through cells of a grid. The cell of a row, in column d, is the
/// whole part of
///   (x_d - least_d) * cells, each rounded once,
/// but 0 where that is below or no number, and 2^curve_bits(dims) - 1 where it is above.
///
/// With cuts these begin with one part of part_rows << bits_before(cuts, cuts.size()) places, at least n, of
/// which the rows take the first, by number. Each cut sorts the rows of each part by their values in its
/// column, equal ones as they stood, -0 as +0, and cuts the places of the part in 2^bits of one length.
struct OrderStep {
  static constexpr const char* name = "order";
  std::vector<RowBlocks> rows;  ///< [n, dims]  in parts, one behind the other
  Grid<float> frame;            ///< [1, curve_columns(dims) + 1]  least of each column, then cells a unit
  std::uint32_t bits;       ///< of a row's place along the curve so many count, from the highest: at least 1
  std::vector<Cut> cuts;    ///< not empty: `frame` and `bits` say nothing
  Grid<std::uint32_t> out;  ///< [1, n]  the row in each place, counted through all parts; equal ones ascend
  Scratch scratch;
};

/// Rows in the places that they have in an order, and the boxes around them: spi::Boxes is made of it.
///
/// Where boxes are wanted, the rows of each part_rows places change these among themselves, and so do their
/// numbers. For `size` = part_rows, part_rows / 2, ... 2 * box_rows the rows of each `size` places are sorted
/// by their values in one column, -0 as +0, equal ones by the places in which they came. It is the first of
/// those among the first curve_columns(dims) in which, of the c rows that take these places, the rows in
/// places j * c / box_rows for j = 0, 1, ... box_rows - 1 reach furthest: least taken from largest, rounded.
struct PackBoxesStep {
  static constexpr const char* name = "pack_boxes";
  std::vector<RowBlocks> rows;  ///< [n, dims]  in parts, one behind the other
  Grid<std::uint32_t> numbers;  ///< [1, p]  the row in each place; changed where `bounds` are wanted
  Grid<float> packed;  ///< [boxes_of_level(p, 0), dims * box_rows]  the last leaf is padded with its last row
  Grid<float> bounds;  ///< Boxes::bounds of p rows; empty: only rows are wanted
};

}  // namespace kith::spi
