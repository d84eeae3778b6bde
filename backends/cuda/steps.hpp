// Operands of steps as the kernels take them, and what is refused of them.
#pragma once

#include <cstdint>
#include <string>

#include "device.hpp"

namespace kith::cuda {

inline Rows rows_of(const spi::RowBlocks& rows) {
  const void* data = rows.memory ? static_cast<const Memory*>(rows.memory)->data : nullptr;
  return {static_cast<const float*>(data), rows.first, rows.rows, rows.dims};
}

template <class T>
Matrix<T> matrix_of(const spi::Grid<T>& grid) {
  void* data = grid.memory ? static_cast<const Memory*>(grid.memory)->data : nullptr;
  return {static_cast<T*>(data) + (data ? grid.first : 0), grid.stride};
}

template <class T>
Matrix<const T> input_of(const spi::Grid<T>& grid) {
  const Matrix<T> matrix = matrix_of(grid);
  return {matrix.data, matrix.stride};
}

inline Scratch scratch_of(const spi::Scratch& scratch) {
  return {scratch.memory ? static_cast<const Memory*>(scratch.memory)->data : nullptr, scratch.bytes};
}

/// Why rows cannot be read, as a sentence; empty when they can.
std::string refusal_of_rows(const char* what, const spi::RowBlocks& rows);

/// Why so many lists cannot be made in one step; empty when they can.
std::string refusal_of_lists(std::uint64_t rows, std::uint64_t groups);

}  // namespace kith::cuda
