// Writes texts and numbers for the page.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kith::report {

/// Escapes <, >, &, " and ' in `text`. Invalid UTF-8 becomes U+FFFD; control characters except tab and line
/// feed, and those that change the direction of what follows, are shown as `\x1b`, `\u202e`.
std::string escape(std::string_view text);

/// Writes a name from the user (of a class, a column, a file) as HTML: on one line, in its own element, so
/// that right-to-left letters do not affect their surroundings. After `length` characters it is cut with an
/// ellipsis, and the title has the full name.
std::string name_html(std::string_view text, std::size_t length = 60);

/// Writes a name where no element is allowed, such as in a title; what is cut is lost.
std::string name_text(std::string_view text, std::size_t length = 60);

std::string grouped(std::int64_t number);         ///< 1234567 as `1,234,567`
std::string percent(double share, int decimals);  ///< 0.8554 as `85.54 %`; NaN as a dash
std::string decimal(double value, int decimals);
std::string shortest(double value);  ///< 6 digits, enough for readers

/// Puts commas into the numbers of foreign text, as `grouped` does: into all numbers of five digits and more,
/// and into those of four if they follow `= ` or begin the text, since others may be years.
std::string grouped_numbers(std::string_view text);

/// Puts commas into the numbers of foreign text as grouped_numbers() does, and escapes it as HTML.
std::string said(std::string_view text);

std::string seconds_text(double seconds);

/// Returns at most `length` characters of `text`; the last is an ellipsis if it was cut.
std::string shortened(std::string_view text, std::size_t length);
std::size_t characters(std::string_view text);

/// Returns a line such as `Written by kith 0.1.0 on 2024-05-06 07:08 UTC.`
std::string written_by();

}  // namespace kith::report
