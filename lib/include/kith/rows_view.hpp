// Views rows of any element in the caller's memory.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "kith/cxx20.hpp"
#include "kith/export.hpp"
#include "kith/matrix_view.hpp"

namespace kith {

/// Names the type of the elements of a row. Every value of f16, bf16, u8 and i8 is a float32, and the chain
/// computes with float32, or with binary64: how rows are stored never changes an answer. docs/contract.md,
/// section 3.
enum class Element {
  f32,   ///< IEEE 754 binary32
  f16,   ///< IEEE 754 binary16
  bf16,  ///< the upper half of an f32
  u8,    ///< 0 ... 255
  i8,    ///< -128 ... 127
  bits,  ///< 8 columns per byte, high bit first, as numpy.packbits packs them: only for metrics of bits
  f64,   ///< IEEE 754 binary64: of an Index in double precision, or with a centre (centre.hpp)
  i32,   ///< i32, u32 and i64 are of an Index in double precision alone
  u32,
  i64  ///< -2^53 ... 2^53, whose numbers are doubles
};

/// Lists the elements in which rows may be stored.
inline constexpr std::array all_elements = {Element::f32, Element::f16, Element::bf16,
                                            Element::u8,  Element::i8,  Element::bits};

/// Says whose memory rows are in; kith/cuda.hpp and kith/opencl.hpp make views of device memory.
enum class Where { host, cuda, opencl };

/// Returns whether the values of an element are doubles, and not all of them floats.
constexpr bool is_wide(Element element) {
  return element >= Element::f64;
}

/// Returns `f32`, `f16`, `bf16`, `u8`, `i8`, `bits`, `f64`, `i32`, `u32` or `i64`.
KITH_API std::string_view name(Element element);

/// Returns a * b, or the largest or smallest multiple of b if that overflows.
///   b  > 0
constexpr std::int64_t clamped_product(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (a > Limits::max() / b) return Limits::max() / b * b;
  if (a < Limits::min() / b) return Limits::min() / b * b;
  return a * b;
}

/// Returns the bytes of one column; 1 for bits, of which a byte holds 8 columns.
constexpr std::int64_t element_bytes(Element element) {
  switch (element) {
    case Element::f64:
    case Element::i64:
      return 8;
    case Element::f32:
    case Element::i32:
    case Element::u32:
      return 4;
    case Element::f16:
    case Element::bf16:
      return 2;
    default:
      return 1;
  }
}

/// Returns the bytes of a row of `cols` columns, without a gap after it; ceil(cols / 8) for bits.
constexpr std::int64_t row_bytes(Element element, std::int64_t cols) {
  if (element == Element::bits) return cols / 8 + (cols % 8 > 0 ? 1 : 0);
  return clamped_product(cols, element_bytes(element));
}

/// Views rows in memory, row-major, at any address. Owns nothing: the caller keeps the memory alive.
struct RowsView {
  const void* data = nullptr;  ///< an address, on the host or of CUDA; or a cl_mem
  Element element = Element::f32;
  std::int64_t rows = 0;            ///< >= 0
  std::int64_t cols = 0;            ///< >= 0; for bits, the number of bits
  std::int64_t stride_bytes = 0;    ///< from one row to the next, >= row_bytes(element, cols)
  std::int64_t offset_bytes = 0;    ///< from `data` to row 0, >= 0
  Where where = Where::host;        ///< not the host: only for an Index, rows added to it, and search()
  void* stream_or_queue = nullptr;  ///< its work comes first; null: CUDA's default stream

  constexpr RowsView() = default;
  /// View rows of any element; the first form has no gaps between rows.
  constexpr RowsView(const void* first, Element of, std::int64_t m, std::int64_t columns)
      : RowsView(first, of, m, columns, row_bytes(of, columns)) {}
  constexpr RowsView(const void* first, Element of, std::int64_t m, std::int64_t columns, std::int64_t stride)
      : data(first), element(of), rows(m), cols(columns), stride_bytes(stride) {}
  /// View rows of floats; `stride` is in floats.
  constexpr RowsView(const float* first, std::int64_t m, std::int64_t columns)
      : RowsView(first, Element::f32, m, columns) {}
  constexpr RowsView(const float* first, std::int64_t m, std::int64_t columns, std::int64_t stride)
      : RowsView(first, Element::f32, m, columns, clamped_product(stride, 4)) {}
  /// Views a MatrixView of floats, or anything that converts to one.
  template <class Rows>
  requires std::is_convertible_v<const Rows&, MatrixView<const float>>
  constexpr RowsView(const Rows& of) : RowsView(static_cast<MatrixView<const float>>(of)) {}
  constexpr RowsView(MatrixView<const float> of) : RowsView(of.data(), of.rows(), of.cols(), of.stride()) {}
  constexpr RowsView(MatrixView<const double> of)
      : RowsView(of.data(), Element::f64, of.rows(), of.cols(), clamped_product(of.stride(), 8)) {}
  constexpr RowsView(MatrixView<const std::int32_t> of)
      : RowsView(of.data(), Element::i32, of.rows(), of.cols(), clamped_product(of.stride(), 4)) {}
  constexpr RowsView(MatrixView<const std::uint32_t> of)
      : RowsView(of.data(), Element::u32, of.rows(), of.cols(), clamped_product(of.stride(), 4)) {}
  constexpr RowsView(MatrixView<const std::int64_t> of)
      : RowsView(of.data(), Element::i64, of.rows(), of.cols(), clamped_product(of.stride(), 8)) {}
  constexpr RowsView(MatrixView<const std::uint8_t> of)
      : RowsView(of.data(), Element::u8, of.rows(), of.cols(), of.stride()) {}
  constexpr RowsView(MatrixView<const std::int8_t> of)
      : RowsView(of.data(), Element::i8, of.rows(), of.cols(), of.stride()) {}

  /// Returns rows first, first + 1, ..., first + count - 1.
  constexpr RowsView slice(std::int64_t first, std::int64_t count) const {
    RowsView part = *this;
    part.rows = count;
    part.offset_bytes += first * stride_bytes;
    return part;
  }
  /// Returns the first byte of row r, on the host or in memory of CUDA.
  const unsigned char* row(std::int64_t r) const {
    return static_cast<const unsigned char*>(data) + offset_bytes + r * stride_bytes;
  }
};

}  // namespace kith
