// Texts and numbers as the page shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kith::report {

/// `text` with <, >, &, " and ' escaped. What is no UTF-8 or no character becomes U+FFFD; control characters
/// but tab and line feed, and those that turn the direction of what follows, are shown as `\x1b`, `\u202e`.
std::string escape(std::string_view text);

/// A name that somebody else gave (of a class, a column, a file) as HTML: on one line, in an element of its
/// own, so that letters from right to left turn nothing else. Of more than `length` characters the rest is an
/// ellipsis, and the whole stands in the title.
std::string name_html(std::string_view text, std::size_t length = 60);

/// The same where no element can stand, as in a title; what is cut is lost.
std::string name_text(std::string_view text, std::size_t length = 60);

std::string grouped(std::int64_t number);         ///< 1234567 as `1,234,567`
std::string percent(double share, int decimals);  ///< 0.8554 as `85.54 %`; NaN as a dash
std::string decimal(double value, int decimals);
std::string shortest(float value);  ///< digits enough for the eye: 6

/// Numbers in a sentence or a cell that somebody else wrote, with commas as `grouped` sets them: all of five
/// digits and more, and of four where a `= ` or nothing stands before them, for others may be years.
std::string grouped_numbers(std::string_view text);

/// What somebody else wrote as HTML, with such numbers.
std::string said(std::string_view text);

std::string seconds_text(double seconds);

/// At most `length` characters of `text`, the last an ellipsis where some were cut.
std::string shortened(std::string_view text, std::size_t length);
std::size_t characters(std::string_view text);

/// `Written by kith 0.1.0 on 2024-05-06 07:08 UTC.`
std::string written_by();

}  // namespace kith::report
