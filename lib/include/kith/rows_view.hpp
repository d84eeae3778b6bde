// Rows of any element in memory, as the caller has them.
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

/// What a row is made of. Every value of f16, bf16, u8 and i8 is a float32, and the chain goes over these:
/// how rows are stored never changes an answer. docs/contract.md, section 3.
enum class Element {
  f32,   ///< IEEE 754 binary32
  f16,   ///< IEEE 754 binary16
  bf16,  ///< the upper half of an f32
  u8,    ///< 0 ... 255
  i8,    ///< -128 ... 127
  bits,  ///< 8 columns a byte, high bit first, as numpy.packbits packs them: for Metric::hamming alone
  f64    ///< IEEE 754 binary64: rows and queries of an Index with a centre (centre.hpp) alone
};

/// Those that rows may stay in.
inline constexpr std::array all_elements = {Element::f32, Element::f16, Element::bf16,
                                            Element::u8,  Element::i8,  Element::bits};

/// Whose memory rows lie in: kith/cuda.hpp and kith/opencl.hpp make views of a device's.
enum class Where { host, cuda, opencl };

/// `f32`, `f16`, `bf16`, `u8`, `i8`, `bits`, `f64`.
KITH_API std::string_view name(Element element);

/// The one of all_elements called `text`, in any case.
///
/// Throws invalid_argument: there is none; the message names the nearest, or lists those there are.
KITH_API Element parse_element(std::string_view text);

/// a * b where a number holds it, else the number nearest to it.
///   b  > 0
constexpr std::int64_t clamped_product(std::int64_t a, std::int64_t b) {
  using Limits = std::numeric_limits<std::int64_t>;
  if (a > Limits::max() / b) return Limits::max() / b * b;
  if (a < Limits::min() / b) return Limits::min() / b * b;
  return a * b;
}

/// Bytes of one column; of bits, which share them, 1.
constexpr std::int64_t element_bytes(Element element) {
  switch (element) {
    case Element::f64:
      return 8;
    case Element::f32:
      return 4;
    case Element::f16:
    case Element::bf16:
      return 2;
    default:
      return 1;
  }
}

/// Bytes of a row of `cols` columns, without what may follow it. Of bits ceil(cols / 8).
constexpr std::int64_t row_bytes(Element element, std::int64_t cols) {
  if (element == Element::bits) return cols / 8 + (cols % 8 > 0 ? 1 : 0);
  return clamped_product(cols, element_bytes(element));
}

/// Rows in memory, row-major, at any address. Owns nothing: the caller keeps the memory alive.
struct RowsView {
  const void* data = nullptr;  ///< an address, of the host or of CUDA; or a cl_mem
  Element element = Element::f32;
  std::int64_t rows = 0;            ///< >= 0
  std::int64_t cols = 0;            ///< >= 0; of bits their number
  std::int64_t stride_bytes = 0;    ///< from one row to the next, >= row_bytes(element, cols)
  std::int64_t offset_bytes = 0;    ///< from `data` to row 0, >= 0
  Where where = Where::host;        ///< elsewhere: an Index, what is added to it, and search()
  void* stream_or_queue = nullptr;  ///< what it holds comes first; null: CUDA's default stream

  constexpr RowsView() = default;
  /// Rows of any element; the first form has one right behind the other.
  constexpr RowsView(const void* first, Element of, std::int64_t m, std::int64_t columns)
      : RowsView(first, of, m, columns, row_bytes(of, columns)) {}
  constexpr RowsView(const void* first, Element of, std::int64_t m, std::int64_t columns, std::int64_t stride)
      : data(first), element(of), rows(m), cols(columns), stride_bytes(stride) {}
  /// Rows of floats; `stride` counts them.
  constexpr RowsView(const float* first, std::int64_t m, std::int64_t columns)
      : RowsView(first, Element::f32, m, columns) {}
  constexpr RowsView(const float* first, std::int64_t m, std::int64_t columns, std::int64_t stride)
      : RowsView(first, Element::f32, m, columns, clamped_product(stride, 4)) {}
  /// What is a MatrixView, or becomes one of floats.
  template <class Rows>
  requires std::is_convertible_v<const Rows&, MatrixView<const float>>
  constexpr RowsView(const Rows& of) : RowsView(static_cast<MatrixView<const float>>(of)) {}
  constexpr RowsView(MatrixView<const float> of) : RowsView(of.data(), of.rows(), of.cols(), of.stride()) {}
  constexpr RowsView(MatrixView<const double> of)
      : RowsView(of.data(), Element::f64, of.rows(), of.cols(), clamped_product(of.stride(), 8)) {}
  constexpr RowsView(MatrixView<const std::uint8_t> of)
      : RowsView(of.data(), Element::u8, of.rows(), of.cols(), of.stride()) {}
  constexpr RowsView(MatrixView<const std::int8_t> of)
      : RowsView(of.data(), Element::i8, of.rows(), of.cols(), of.stride()) {}

  /// Rows first, first + 1, ..., first + count - 1.
  constexpr RowsView slice(std::int64_t first, std::int64_t count) const {
    RowsView part = *this;
    part.rows = count;
    part.offset_bytes += first * stride_bytes;
    return part;
  }
  /// The first byte of row r, on the host or in memory of CUDA.
  const unsigned char* row(std::int64_t r) const {
    return static_cast<const unsigned char*>(data) + offset_bytes + r * stride_bytes;
  }
};

}  // namespace kith
