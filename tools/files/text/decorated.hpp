// Numbers with something about them that the readers of numbers do not take: $9, 10 %, 1,234.5, 5 kg.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "files/text/number.hpp"

namespace kith::files {

struct Decoration {
  enum Kind {
    none,       ///< no number, or a plain one
    comma,      ///< 1,5
    point,      ///< 1.5, where the comma is the decimal sign
    either,     ///< 1,234 (or 1.234, where the comma is the decimal sign): of thousands, or decimal?
    thousands,  ///< 1,234.5, 1.234.567 or 1 234
    symbol,     ///< $9, 10%, EUR 5, (7)
    minus,      ///< the minus of typesetters, U+2212, before the number
    exponent,   ///< 1.5D3, as Fortran writes it
    base,       ///< 0x1F, 0o17, 0b101: not decimal
    unit,       ///< 5 kg, 4wd: letters after the number
  } kind = none;
  std::string what;  ///< symbol, unit: as it is written; either: comma or point; base: its sign, as 0x
};

/// What is about the number in `text`.
///   decimal  how numbers are written: '.' or ','
Decoration decoration_of(std::string_view text, char decimal = '.');

/// What to do about it: `take the "$" off its numbers`; empty for none and unit.
std::string undecorating_advice(const Decoration& decoration);

/// Letters for thousands, millions and so on: k, M, Mi.
bool is_magnitude(std::string_view unit);

/// A number with a decimal comma, as 1,5 or -3,25e7, which is no group of thousands, as 1,234 may be.
bool is_decimal_comma(std::string_view text);

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
