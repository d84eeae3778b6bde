// The part of a row that gives one list of a selector, and rounds of rows if memory is too small for all
// of them.
// No twin in kernels_cl: there each kernel computes its own part, and the back end makes the rounds.
#pragma once

#include "common/common.cuh"

namespace kith::cuda {

/// Arguments of every selector.
struct Selection {
  Matrix<const float> distances;  ///< [rows, columns]
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t first_row;  ///< training row of column 0
  std::uint32_t k;
  std::uint32_t lists;  ///< of a row: one of each part of ceil(columns / lists) columns
  Matrix<Key> out;      ///< [rows, lists * k]
};

inline Selection selection_of(const spi::SelectStep& step) {
  return {input_of(step.distances),
          count_of(step.distances.rows),
          count_of(step.distances.cols),
          step.first_row,
          step.k,
          step.lists,
          matrix_of(step.out)};
}

/// Part g of row q. Its list has number q * lists + g.
struct Part {
  const float* values;
  std::uint32_t count;
  std::uint32_t first_row;  // training row of the first value
  Key* out;                 // [k]

  /// Returns a value, or NaN beyond the last.
  __device__ float value(std::uint64_t i) const { return i < count ? values[i] : not_a_candidate(); }
  /// Returns a key, or no_key beyond the last.
  __device__ Key key(std::uint64_t i) const {
    return i < count ? key_of(values[i], first_row + static_cast<std::uint32_t>(i)) : no_key;
  }
};

__device__ inline Part part_of(const Selection& selection, std::uint32_t list) {
  const std::uint32_t q = list / selection.lists, g = list % selection.lists;
  const Columns columns = columns_of(g, selection.lists, selection.columns);
  return {selection.distances.data + q * selection.distances.stride + columns.begin,
          columns.end - columns.begin, selection.first_row + columns.begin,
          selection.out.data + q * selection.out.stride + static_cast<std::size_t>(g) * selection.k};
}

/// Returns the number of lists of all rows; the back end refuses more than 2^31 - 1.
inline std::uint32_t lists_of(const Selection& selection) {
  return selection.rows * selection.lists;
}

/// Returns the number of values in the longest part.
__host__ __device__ inline std::uint32_t width_of(const Selection& selection) {
  return divide_up(selection.columns, selection.lists);
}

/// The most scratch that a step asks for, unless a single row needs more.
inline constexpr std::size_t round_bytes = std::size_t{1} << 29;

/// Returns how many rows fit into `bytes`, at least one.
inline std::uint32_t rows_in(const Selection& selection, std::size_t bytes, std::size_t bytes_a_row) {
  if (bytes_a_row == 0) return selection.rows;
  return static_cast<std::uint32_t>(std::clamp<std::size_t>(bytes / bytes_a_row, 1, selection.rows));
}

inline std::size_t scratch_of_rounds(const Selection& selection, std::size_t bytes_a_row) {
  return bytes_a_row * rows_in(selection, round_bytes, bytes_a_row);
}

/// Calls `select(rows)` for all rows, `round` of them at a time.
template <class Select>
cudaError_t in_rounds(const Selection& selection, std::uint32_t round, Select select) {
  for (std::uint32_t first = 0; first < selection.rows; first += round) {
    Selection rows = selection;
    rows.rows = std::min(round, selection.rows - first);
    rows.distances.data += first * rows.distances.stride;
    rows.out.data += first * rows.out.stride;
    const cudaError_t error = select(rows);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

/// Does the same with as many rows at a time as scratch has space for.
template <class Select>
cudaError_t in_rounds(const Selection& selection, const spi::Scratch& scratch, std::size_t bytes_a_row,
                      Select select) {
  return in_rounds(selection, rows_in(selection, scratch.bytes, bytes_a_row), select);
}

}  // namespace kith::cuda
