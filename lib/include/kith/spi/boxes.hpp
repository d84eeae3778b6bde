// Declares the steps of a search by boxes, and the layout of boxes in memory: docs/boxes.md.
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

/// Returns the number of boxes of a level; the boxes of level 0 are the leaves. Each leaf holds box_rows
/// rows, and each box of a higher level box_rows boxes of the level below; the last box of a level holds what
/// is left.
constexpr std::uint32_t boxes_of_level(std::uint32_t rows, std::uint32_t level) {
  std::uint64_t count = rows;
  for (std::uint32_t l = 0; l <= level; ++l) count = (count + box_rows - 1) / box_rows;
  return static_cast<std::uint32_t>(count);
}

/// Returns the number of levels of boxes over so many rows, at least one: the top level has at most
/// box_rows boxes.
constexpr std::uint32_t box_levels(std::uint32_t rows) {
  std::uint32_t level = 0;
  while (boxes_of_level(rows, level) > box_rows) ++level;
  return level + 1;
}
static_assert(box_levels(0xFFFFFFFEu) <= most_box_levels);

/// Returns the number of blocks, of box_rows boxes each, before those of a level.
constexpr std::size_t blocks_before_level(std::uint32_t rows, std::uint32_t level) {
  std::size_t blocks = 0;
  for (std::uint32_t l = 0; l < level; ++l)
    blocks += (std::size_t{boxes_of_level(rows, l)} + box_rows - 1) / box_rows;
  return blocks;
}

/// Returns the number of blocks of all levels.
constexpr std::size_t box_blocks(std::uint32_t rows) {
  return blocks_before_level(rows, box_levels(rows));
}

/// Returns how many columns, from the first on, order rows.
constexpr std::uint32_t curve_columns(std::uint32_t dims) {
  return std::min(dims, most_curve_columns);
}

/// Returns how many bits each of these columns has in a place along a curve: as many as fit in 64 bits, but
/// no more than floats have, and 48 in all if that is as fine.
constexpr std::uint32_t curve_bits(std::uint32_t dims) {
  constexpr std::uint32_t most_of_column = 24, few_columns = 3;
  const std::uint32_t columns = curve_columns(dims);
  return std::min(most_of_column, (columns <= few_columns ? 48 : 64) / columns);
}

/// Holds training rows in an order that puts neighbours together, and the boxes around them.
struct Boxes {
  RowBlocks rows;               ///< [n, dims]  in that order, in blocks of box_rows, `first` 0
  Grid<std::uint32_t> numbers;  ///< [1, n]  the number of the training row at each place
  /// [box_blocks(n), 2 * dims * box_rows]  level by level, the leaves first: for each box_rows boxes the
  /// smallest values of each dimension, [dims, box_rows], then the largest. The content after the last box of
  /// a level is arbitrary.
  Grid<float> bounds;
};

/// Finds the k smallest keys of the rows in boxes, in any order of visits. A box is skipped if the chain of
/// its gaps is above the k-th value so far, or above `within`.
struct BoxesStep {
  static constexpr const char* name = "boxes";
  Metric metric;               ///< one that follows from gaps: docs/boxes.md, section 1
  RowBlocks queries;           ///< [q, dims]
  Grid<std::uint32_t> order;   ///< [1, q]  the queries in an order that puts neighbours together; or empty
  Boxes train;                 ///< read only
  std::uint32_t k;             ///< at most DeviceInfo::boxes_max_k
  Grid<std::uint32_t> filter;  ///< [1 or q, words]  as in MaskStep; empty: all rows count
  Grid<float> within;          ///< [q, 1]  rows beyond it do not count; empty: all do
  std::uint32_t most_leaves;   ///< a query that would read more leaves stops
  Grid<Key> out;               ///< [q, k]  ascending, padded with no_key; undefined for a query that stopped
  Grid<std::uint32_t> leaves;  ///< [q, 1]  leaves read; above most_leaves: the query stopped
  Scratch scratch;
};

/// Counts the rows in boxes whose value is at most each of some bounds. A box is left out for bounds that are
/// below the chain of its gaps, and counts whole, unread, for bounds that the chain of its far sides, which
/// the chain of no row inside exceeds, is not above: docs/boxes.md, section 1.
struct CountStep {
  static constexpr const char* name = "count";
  Metric metric;               ///< as in BoxesStep
  RowBlocks queries;           ///< [q, dims]
  Grid<std::uint32_t> order;   ///< [1, q]  as in BoxesStep; or empty
  Boxes train;                 ///< read only
  Grid<float> bounds;          ///< [1 or q, r]  ascending in each row; one row is for all queries
  Grid<std::uint32_t> filter;  ///< [1 or q, words]  as in MaskStep; empty: all rows count
  Grid<std::uint32_t> counts;  ///< [q, r]  written
  Grid<std::uint32_t> leaves;  ///< [q, 1]  leaves read
  Scratch scratch;
};

/// Cuts each part of an order into 2^bits parts, by the values in a column.
struct Cut {
  std::uint32_t column;  ///< below curve_columns(dims)
  std::uint32_t bits;    ///< at least 1
};

/// Returns the bits of a part's number before cut `i` is made.
inline std::uint32_t bits_before(const std::vector<Cut>& cuts, std::size_t i) {
  std::uint32_t bits = 0;
  for (std::size_t j = 0; j < i; ++j) bits += cuts[j].bits;
  return bits;
}

/// Orders rows so that neighbours are together (docs/boxes.md, section 2).
///
/// Without cuts, rows are ordered along a Hilbert curve through the cells of a grid. The cell of a row, in
/// column d, is the whole part of
///   (x_d - least_d) * cells, each rounded once,
/// but 0 if that is negative or NaN, and 2^curve_bits(dims) - 1 if it is larger than that.
///
/// With cuts, there is one part at first, of part_rows << bits_before(cuts, cuts.size()) places, which are at
/// least n; the rows take the first places, by number. Each cut sorts the rows of each part by their values
/// in its column, with -0 as +0, and equal ones in their current order, and divides the places of the part
/// into 2^bits parts of equal length.
struct OrderStep {
  static constexpr const char* name = "order";
  std::vector<RowBlocks> rows;  ///< [n, dims]  in parts, one after the other
  Grid<float> frame;            ///< [1, curve_columns(dims) + 1]  smallest value of each column, then cells
                                ///< per unit
  std::uint32_t bits;       ///< how many of the highest bits of a row's place on the curve count: at least 1
  std::vector<Cut> cuts;    ///< if not empty, `frame` and `bits` are ignored
  Grid<std::uint32_t> out;  ///< [1, n]  the row at each place, counted through all parts; rows at equal
                            ///< places ascend
  Scratch scratch;
};

/// Packs rows in a given order, and makes the boxes around them, for spi::Boxes.
///
/// If boxes are wanted, the rows of each part_rows places are sorted among themselves, with their numbers.
/// For `size` = part_rows, part_rows / 2, ... 2 * box_rows, the rows of each `size` places are sorted by
/// their values in one column, with -0 as +0, and equal ones by their former places. The column is the first,
/// among the first curve_columns(dims), with the widest sample. The sample of the c rows in these places is
/// taken from places j * c / box_rows for j = 0, 1, ... box_rows - 1; its width is the largest value minus
/// the smallest, rounded.
struct PackBoxesStep {
  static constexpr const char* name = "pack_boxes";
  std::vector<RowBlocks> rows;  ///< [n, dims]  in parts, one after the other
  Grid<std::uint32_t> numbers;  ///< [1, p]  the row at each place; changed if `bounds` are wanted
  Grid<float> packed;           ///< [boxes_of_level(p, 0), dims * box_rows]  its last row pads the last leaf
  Grid<float> bounds;           ///< Boxes::bounds of p rows; empty: only rows are wanted
};

}  // namespace kith::spi
