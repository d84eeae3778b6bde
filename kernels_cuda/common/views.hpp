// The arguments of steps as kernels take them: the views of the spi with the addresses of their memory on
// the device.
// No twin in kernels_cl: kernels of OpenCL take memory and places as arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kith/spi.hpp"

namespace kith::cuda {

/// Memory of the device, which this back end made, or of the host, which kernels read over the bus.
class Block : public spi::Allocation {
 public:
  Block(void* made, std::size_t size, bool is_of_host = false)
      : Allocation(size), data(made), of_host(is_of_host) {}
  void* const data;
  const bool of_host;
};

/// Returns the address of memory; null for null.
inline void* address_of(const spi::Allocation* memory) {
  return memory ? static_cast<const Block*>(memory)->data : nullptr;
}

inline bool is_of_host(const spi::Allocation* memory) {
  return memory && static_cast<const Block*>(memory)->of_host;
}

template <class T>
T* address_of(const spi::Scratch& scratch) {
  return static_cast<T*>(address_of(scratch.memory));
}

/// The kernels' form of spi::RowBlocks: transposed blocks of 32 rows.
struct Rows {
  const float* data;
  std::uint32_t first;
  std::uint32_t rows;
  std::uint32_t dims;
};

inline Rows rows_of(const spi::RowBlocks& rows) {
  return {static_cast<const float*>(address_of(rows.memory)), rows.first, rows.rows, rows.dims};
}

/// Returns the parameters of terms; null if chains take differences.
inline const float* terms_of(const spi::RowBlocks& rows) {
  return static_cast<const float*>(address_of(rows.terms));
}

/// The kernels' form of spi::Grid: rows begin `stride` elements apart.
template <class T>
struct Matrix {
  T* data;
  std::size_t stride;
};

template <class T>
Matrix<T> matrix_of(const spi::Grid<T>& grid) {
  T* const data = static_cast<T*>(address_of(grid.memory));
  return {data ? data + grid.first : nullptr, grid.stride};
}

/// Returns a read-only matrix.
template <class T>
Matrix<const T> input_of(const spi::Grid<T>& grid) {
  const Matrix<T> matrix = matrix_of(grid);
  return {matrix.data, matrix.stride};
}

/// Rows and columns of a step have 32 bits; check() refuses larger numbers.
inline std::uint32_t count_of(std::size_t rows) {
  return static_cast<std::uint32_t>(rows);
}

/// Places of a list have 32 bits, as rows have; no candidates exist for places beyond.
inline std::uint32_t capacity_of(std::size_t places) {
  return static_cast<std::uint32_t>(std::min<std::size_t>(places, 0xFFFFFFFFu));
}

/// The kernels' form of spi::CandidateLists. Places behind min(counts, capacity) of a row are undefined.
template <class T>
struct Lists {
  Matrix<T> rows;    ///< [queries, capacity]
  Matrix<T> counts;  ///< [queries, 1]
  std::uint32_t capacity;
};

template <class T>
Lists<T> lists_of(const spi::CandidateLists& lists) {
  return {{matrix_of(lists.rows).data, lists.rows.stride},
          {matrix_of(lists.counts).data, lists.counts.stride},
          capacity_of(lists.rows.cols)};
}

}  // namespace kith::cuda
