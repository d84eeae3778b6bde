// Converts rows of the caller into the float32 of the chain. Elements are converted only here.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/floats.hpp"
#include "kith/metric.hpp"
#include "kith/rows_view.hpp"
#include "metric/share_code.hpp"

namespace kith {

/// The most bits that a chain of hamming counts exactly: float32 represents all whole numbers up to this.
inline constexpr std::int64_t most_bits = std::int64_t{1} << 24;
inline constexpr std::int64_t bits_a_word = 32;

/// Returns the most bits of a row: up to these a chain is exact, and two different quotients of sums have two
/// raw values (docs/contract.md, section 1).
constexpr std::int64_t most_bits_of(Metric metric) {
  switch (metric) {
    case Metric::jaccard:
    case Metric::dice:
    case Metric::sokalsneath:
      return most_coded_bits;
    case Metric::rogerstanimoto:
      return most_bits / 2;
    default:
      return most_bits;
  }
}

/// Rows of float32. A column of bits is a word of 32 bits, stored as a float, which may only be copied: float
/// arithmetic could change it. The rows are in the caller's memory, or in `own` if they were converted.
struct LandedRows {
  MatrixView<const float> view;
  Floats own = {};
};

/// Returns the number of columns that rows of `cols` columns have when they are landed.
constexpr std::int64_t landed_cols(Element element, std::int64_t cols) {
  return element == Element::bits ? cols / bits_a_word + (cols % bits_a_word > 0 ? 1 : 0) : cols;
}

/// Returns `the host`, `a CUDA device` or `an OpenCL device`.
std::string_view place_name(Where where);

/// Refuses a view that no memory can contain: without an address, with rows that overlap, or too large.
///   what  names the rows in messages: "training" or "query"
/// Throws invalid_argument.
void check_layout(std::string_view where, std::string_view what, const RowsView& rows);

/// Calls check_layout(), and refuses rows that are not on the host. Throws invalid_argument; unsupported:
/// rows of a device.
void check_rows(std::string_view where, std::string_view what, const RowsView& rows);

/// Refuses bits for a metric of numbers, numbers for one of bits, and more bits than most_bits_of() it.
/// Throws invalid_argument.
void check_element(std::string_view where, std::string_view what, const RowsView& rows, Metric metric);

/// Calls check_rows(), and returns the rows as float32. Values are not checked.
LandedRows land(std::string_view where, std::string_view what, const RowsView& rows, std::uint32_t threads);

/// Converts one row to float32.
///   from  [row_bytes(element, cols)]
///   to    [landed_cols(element, cols)]  out
void land_row(Element element, const unsigned char* from, std::int64_t cols, float* to);

/// Converts a landed row back to its element, exactly.
///   from  [landed_cols(element, cols)]
///   to    [row_bytes(element, cols)]  out
void store_row(Element element, const float* from, std::int64_t cols, unsigned char* to);

}  // namespace kith
