// The kernels as the back end sees them: one launcher for each step or selector.
//
// A launcher enqueues and returns; what it returns is the error of a launch, not of what was
// launched. `..._scratch` tells how many bytes of scratch a launcher wants; with less, but never
// less than it wants for a single row, it works in more rounds.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kith/key.hpp"
#include "kith/metric.hpp"

namespace kith::cuda {

/// Rows a block of packed rows (kith/spi.hpp, RowBlocks): of queries and of training rows alike.
inline constexpr std::uint32_t rows_a_block = 32;

/// Most neighbours of `nearest`, and of selector `threshold`.
inline constexpr std::uint32_t nearest_max_k = 256;
inline constexpr std::uint32_t threshold_max_k = 2048;

/// Where work goes.
struct Queue {
  cudaStream_t stream = nullptr;
  std::uint32_t multiprocessors = 1;
};

/// Rows first .. first + rows - 1 of packed rows: blocks of 32, transposed.
struct Rows {
  const float* data;
  std::uint32_t first;
  std::uint32_t rows;
  std::uint32_t dims;
};

/// A rectangle in device memory, row-major, `stride` elements from row to row.
template <class T>
struct Matrix {
  T* data;
  std::size_t stride;
};

struct Scratch {
  void* data;
  std::size_t bytes;
};

cudaError_t distance(const Queue& queue, Metric metric, const Rows& queries, const Rows& train,
                     const Matrix<float>& out);

/// What every selector is given.
struct Selection {
  Matrix<const float> distances;  ///< [rows, columns]
  std::uint32_t rows;
  std::uint32_t columns;
  std::uint32_t first_row;  ///< training row of column 0
  std::uint32_t k;
  std::uint32_t groups;  ///< parts of ceil(columns / groups) columns
  Matrix<Key> out;       ///< [rows, groups * k]
};

cudaError_t select_threshold(const Queue& queue, const Selection& selection);

std::size_t select_radix_scratch(const Selection& selection);
cudaError_t select_radix(const Queue& queue, const Selection& selection, const Scratch& scratch);

std::size_t select_bubble_scratch(const Selection& selection);
cudaError_t select_bubble(const Queue& queue, const Selection& selection, const Scratch& scratch);

std::size_t select_insertion_scratch(const Selection& selection);
cudaError_t select_insertion(const Queue& queue, const Selection& selection, const Scratch& scratch);

/// What `nearest` is given.
struct Search {
  Metric metric;
  Rows queries;
  Rows train;
  std::uint32_t first_row;  ///< training row of train.first
  std::uint32_t k;
  std::uint32_t groups;
  Matrix<Key> out;  ///< [queries.rows, groups * k]
};

std::size_t nearest_scratch(const Queue& queue, const Search& search);
cudaError_t nearest(const Queue& queue, const Search& search, const Scratch& scratch);

/// The two ways of `nearest`: by rows where there are few queries, else by tiles.
cudaError_t nearest_rows(const Queue& queue, const Search& search);
std::size_t nearest_tiles_scratch(const Queue& queue, const Search& search);
cudaError_t nearest_tiles(const Queue& queue, const Search& search, const Scratch& scratch);

cudaError_t merge(const Queue& queue, const Matrix<const Key>& in, std::uint32_t rows, std::uint32_t lists,
                  std::uint32_t k, const Matrix<Key>& out);

/// What `vote` is given.
struct Ballot {
  Matrix<const Key> nearest;  ///< [rows, k]
  std::uint32_t rows;
  std::uint32_t k;
  const std::uint32_t* labels;  ///< [n]
  std::uint32_t classes;
  Matrix<std::uint32_t> counts;  ///< [rows, classes]
  Matrix<std::uint32_t> winner;  ///< [rows, 1]
};

cudaError_t vote(const Queue& queue, const Ballot& ballot);

}  // namespace kith::cuda
