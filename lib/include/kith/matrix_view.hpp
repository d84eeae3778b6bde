// Views rows of numbers in the caller's memory.
#pragma once

#include <cstdint>
#include <span>
#include <type_traits>

#include "kith/cxx20.hpp"

namespace kith {

/// Views rows in host memory, row-major. Owns nothing: the caller keeps the memory alive.
///   data    first element of row 0
///   rows    number of rows, >= 0
///   cols    elements per row, >= 0
///   stride  elements from one row to the next, >= cols
template <class T>
class MatrixView {
 public:
  constexpr MatrixView() = default;
  constexpr MatrixView(T* data, std::int64_t rows, std::int64_t cols) : MatrixView(data, rows, cols, cols) {}
  constexpr MatrixView(T* data, std::int64_t rows, std::int64_t cols, std::int64_t stride)
      : data_(data), rows_(rows), cols_(cols), stride_(stride) {}

  /// Views a list, such as a vector, as one column. Not a list of floats, which may as well be rows of
  /// several columns.
  template <class List>
  requires(!std::is_same_v<std::remove_const_t<T>, float> &&
           std::is_convertible_v<const List&, std::span<T>>) constexpr MatrixView(const List& column)
      : MatrixView(std::span<T>(column).data(), static_cast<std::int64_t>(std::span<T>(column).size()), 1) {}

  /// Views the same rows, but may not change them.
  constexpr MatrixView(const MatrixView<std::remove_const_t<T>>& other) requires std::is_const_v<T>
      : MatrixView(other.data(), other.rows(), other.cols(), other.stride()) {}

  constexpr T* data() const { return data_; }
  constexpr std::int64_t rows() const { return rows_; }
  constexpr std::int64_t cols() const { return cols_; }
  constexpr std::int64_t stride() const { return stride_; }
  constexpr T* row(std::int64_t r) const { return data_ + r * stride_; }
  constexpr T& operator()(std::int64_t r, std::int64_t c) const { return row(r)[c]; }

  /// Returns rows first, first + 1, ..., first + count - 1.
  constexpr MatrixView slice(std::int64_t first, std::int64_t count) const {
    return MatrixView(data_ + first * stride_, count, cols_, stride_);
  }

 private:
  T* data_ = nullptr;
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  std::int64_t stride_ = 0;
};

}  // namespace kith
