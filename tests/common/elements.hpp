// Makes rows of each element type as a caller may store them, and their values: docs/contract.md, section 3.
// It shares no code with the library.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "common/data.hpp"
#include "kith/rows_view.hpp"

namespace kith::tests {

/// Lists all element types but bits.
inline constexpr Element number_elements[] = {Element::f32, Element::f16, Element::bf16, Element::u8,
                                              Element::i8};

/// Returns the value of an IEEE 754 binary16, computed by powers of two instead of by moving bits.
inline float value_of_f16(std::uint16_t pattern) {
  const int exponent = pattern >> 10 & 31, fraction = pattern & 1023;
  const float sign = pattern >> 15 ? -1.0f : 1.0f;
  if (exponent == 31) return fraction ? std::nanf("") : sign * inf;
  return sign * std::ldexp(static_cast<float>(exponent ? 1024 + fraction : fraction),
                           exponent ? exponent - 25 : -24);
}

/// Returns the value of a bfloat16, which is the upper half of a binary32 and has a significand of 8 bits.
inline float value_of_bf16(std::uint16_t pattern) {
  const int exponent = pattern >> 7 & 255, fraction = pattern & 127;
  const float sign = pattern >> 15 ? -1.0f : 1.0f;
  if (exponent == 255) return fraction ? std::nanf("") : sign * inf;
  return sign * std::ldexp(static_cast<float>(exponent ? 128 + fraction : fraction),
                           exponent ? exponent - 134 : -133);
}

/// Returns the pattern whose value is `value`, which must be representable; of both kinds of halves for NaN.
inline std::uint16_t half_of(float value, float (*value_of)(std::uint16_t)) {
  if (std::isnan(value)) return 0x7FFF;
  static std::map<float (*)(std::uint16_t), std::map<float, std::uint16_t>> all;
  std::map<float, std::uint16_t>& patterns = all[value_of];
  if (patterns.empty())
    for (std::uint32_t p = 0; p < 0x10000u; ++p) {
      const float known = value_of(static_cast<std::uint16_t>(p));
      if (!std::isnan(known)) patterns.emplace(known, static_cast<std::uint16_t>(p));
    }
  return patterns.at(value);
}

/// Returns the value of column d of row r.
inline float value_in(const RowsView& rows, std::int64_t r, std::int64_t d) {
  const unsigned char* const at = rows.row(r) + d * element_bytes(rows.element);
  std::uint16_t half = 0;
  float value = 0;
  switch (rows.element) {
    case Element::f16:
      std::memcpy(&half, at, sizeof half);
      return value_of_f16(half);
    case Element::bf16:
      std::memcpy(&half, at, sizeof half);
      return value_of_bf16(half);
    case Element::u8:
      return static_cast<float>(*at);
    case Element::i8:
      return static_cast<float>(static_cast<std::int8_t>(*at));
    default:
      std::memcpy(&value, at, sizeof value);
      return value;
  }
}

/// Owns rows and their bytes, with `offset` bytes before the first row and `gap` bytes of 0xFF after each.
/// Read as floats, these are NaN.
class Stored {
 public:
  /// Copies numbers that the element type can hold.
  Stored(const Matrix& of, Element element, std::int64_t gap = 0, std::int64_t offset = 0)
      : Stored(element, of.rows, of.cols, gap, offset) {
    for (std::int64_t r = 0; r < of.rows; ++r)
      for (std::int64_t d = 0; d < of.cols; ++d) put(r, d, of.row(r)[size(d)]);
  }
  /// Leaves the rows to be filled in later.
  Stored(Element element, std::int64_t rows, std::int64_t cols, std::int64_t gap = 0, std::int64_t offset = 0)
      : element_(element),
        rows_(rows),
        cols_(cols),
        offset_(offset),
        stride_(row_bytes(element, cols) + gap) {
    bytes_.assign(size(offset + rows * stride_), 0xFF);
  }

  unsigned char* row(std::int64_t r) { return bytes_.data() + offset_ + r * stride_; }
  template <class Pattern>
  void put_pattern(std::int64_t r, std::int64_t d, Pattern pattern) {
    std::memcpy(row(r) + size(d) * sizeof pattern, &pattern, sizeof pattern);
  }

  RowsView view() const {
    RowsView view(bytes_.data(), element_, rows_, cols_, stride_);
    view.offset_bytes = offset_;
    return view;
  }

 private:
  void put(std::int64_t r, std::int64_t d, float value) {
    switch (element_) {
      case Element::f16:
        return put_pattern(r, d, half_of(value, value_of_f16));
      case Element::bf16:
        return put_pattern(r, d, half_of(value, value_of_bf16));
      case Element::u8:
        return put_pattern(r, d, static_cast<std::uint8_t>(value));
      case Element::i8:
        return put_pattern(r, d, static_cast<std::int8_t>(value));
      default:
        return put_pattern(r, d, value);
    }
  }

  Element element_;
  std::int64_t rows_, cols_, offset_, stride_;
  std::vector<unsigned char> bytes_;
};

/// Returns random bits. The bits behind a row's last column, which must be ignored, are random too.
inline Stored random_bits(std::int64_t rows, std::int64_t cols, std::uint64_t seed, std::int64_t gap = 0) {
  Stored stored(Element::bits, rows, cols, gap);
  std::uint64_t state = seed;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t i = 0; i < row_bytes(Element::bits, cols); ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      // Every fourth row nearly equals the one before it, so that distances are small and large, and
      // some are tied.
      stored.row(r)[i] =
          r % 4 == 3 && i % 8 != r % 8 ? stored.row(r - 1)[i] : static_cast<unsigned char>(state >> 56);
    }
  return stored;
}

/// Returns column c of a row of bits, in the order of numpy.unpackbits.
inline bool bit_of(const unsigned char* row, std::int64_t c) {
  return (row[c / 8] >> (7 - c % 8) & 1) != 0;
}

/// Returns the same bits as a matrix of the numbers 0 and 1.
inline Matrix zeros_and_ones(const RowsView& bits) {
  Matrix matrix{bits.rows, bits.cols, {}};
  for (std::int64_t r = 0; r < bits.rows; ++r)
    for (std::int64_t c = 0; c < bits.cols; ++c)
      matrix.values.push_back(bit_of(bits.row(r), c) ? 1.0f : 0.0f);
  return matrix;
}

}  // namespace kith::tests
