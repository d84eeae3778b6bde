// Rows of the caller as the chain takes them. The only place where elements are converted.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/floats.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"

namespace kith {

/// Bits that a chain of hamming counts exactly: as many as float32 has whole numbers in a row.
inline constexpr std::int64_t most_bits = std::int64_t{1} << 24;
inline constexpr std::int64_t bits_a_word = 32;

/// Rows of float32. Of bits a column is a word of 32, which a float carries: it is copied, and no arithmetic
/// of floats may see it. Refers to the caller's memory, or to `own` where that holds something else.
struct LandedRows {
  MatrixView<const float> view;
  Floats own = {};
};

/// Columns that rows of `cols` have once they are landed.
constexpr std::int64_t landed_cols(Element element, std::int64_t cols) {
  return element == Element::bits ? cols / bits_a_word + (cols % bits_a_word > 0 ? 1 : 0) : cols;
}

/// `the host`, `a CUDA device`, `an OpenCL device`.
std::string_view place_name(Where where);

/// Refuse a view that no memory can hold: without an address, with rows that overlap, or too large.
///   what  names the rows in messages: "training" or "query"
/// Throws invalid_argument.
void check_layout(std::string_view where, std::string_view what, const RowsView& rows);

/// check_layout(), and refuse one that is not the host's.
/// Throws invalid_argument; unsupported: rows of a device.
void check_rows(std::string_view where, std::string_view what, const RowsView& rows);

/// Refuse bits for a metric of numbers, numbers for hamming, and more bits than it counts exactly.
/// Throws invalid_argument.
void check_element(std::string_view where, std::string_view what, const RowsView& rows, Metric metric);

/// check_rows(), then the rows as float32. No value is looked at.
LandedRows land(std::string_view where, std::string_view what, const RowsView& rows, std::uint32_t threads);

/// One row as float32.
///   from  [row_bytes(element, cols)]
///   to    [landed_cols(element, cols)]  out
void land_row(Element element, const unsigned char* from, std::int64_t cols, float* to);

/// A landed row as its element once more: what land() made of values is turned back exactly.
///   from  [landed_cols(element, cols)]
///   to    [row_bytes(element, cols)]  out
void store_row(Element element, const float* from, std::int64_t cols, unsigned char* to);

}  // namespace kith
