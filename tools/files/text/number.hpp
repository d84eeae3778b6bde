// Numbers in text as float32.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kith::files {

inline bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// Of ASCII.
inline bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// At least one.
inline bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_digit);
}

/// A cell of text. `finite`: value is the float32 nearest to it, ties to even.
struct Number {
  enum Kind { finite, not_a_number, nan, infinite, too_large } kind = not_a_number;
  float value = 0;
};

/// `text` without spaces around it; an optional sign, digits, a point, an exponent; nan, inf, infinity.
Number parse_number(std::string_view text);
/// The same where numbers are written with this decimal sign, '.' or ','; the other one makes it no number.
///   wide  a number beyond float32 that float64 holds is finite, and its value an infinity
Number parse_number(std::string_view text, char decimal, bool wide = false);

/// The same as float64. Numbers beyond it are too_large.
struct WideNumber {
  Number::Kind kind = Number::not_a_number;
  double value = 0;
};
WideNumber parse_wide(std::string_view text);
WideNumber parse_wide(std::string_view text, char decimal);

/// What a cell is as float64, of which parse_number() made `value`, finite or the NaN of a missing value.
double wide_of(std::string_view text, float value, char decimal = '.');

/// A whole number, also written as 3.0 or 3e0. False: it is none, or beyond int64.
bool parse_whole(std::string_view text, std::int64_t& value);

/// What a label that is a number must be.
inline constexpr std::string_view labels_are_whole =
    "labels are whole numbers or text; numbers to be predicted are for kith regress --target";

/// What a message about a missing value adds where an option says what becomes of it.
inline constexpr std::string_view or_missing =
    "; --prepare missing= fills such cells in, drops their rows, or leaves them out";

/// Whether a text that is no number may have been meant as one: its first letter or digit is a digit, as in
/// $9, 10 %, 1,234.5, 5 kg, 0x1F and 2024-01-31.
bool is_like_number(std::string_view text);

/// What makes numbers of such cells: `say --csv decimal=, if the comma is the decimal sign`.
std::string number_advice(std::string_view text, char decimal);

/// What is to be done about a number that is too large.
inline constexpr std::string_view scale_down = "scale the column down";

/// Why parse_number() does not give a finite number: `holds "abc" where a number belongs; ...`.
///   advice  for a number beyond float32
std::string why_not(Number::Kind kind, std::string_view text, char decimal = '.',
                    std::string_view advice = scale_down);
/// The same for parse_wide().
std::string why_not_wide(Number::Kind kind, std::string_view text, char decimal = '.');

/// Marks of a missing value that are hardly ever anything else.
inline constexpr std::array<std::string_view, 10> plain_marks = {"?",    "NA",   "N/A",  "n/a",  "na",
                                                                 "null", "NULL", "None", "#N/A", "<NA>"};

bool is_plain_mark(std::string_view text);
/// An empty cell, or a mark that stands for a missing value: NA, ?, -.
bool is_missing_marker(std::string_view text);
/// The same, or NaN.
bool is_missing(Number::Kind kind, std::string_view text);
bool is_missing(std::string_view text);

}  // namespace kith::files
