// Texts and numbers as the page shows them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace kith::report {

/// `text` with <, >, &, " and ' escaped, and what is no UTF-8 or no character replaced.
std::string escape(std::string_view text);

std::string grouped(std::int64_t number);         ///< 1234567 as `1,234,567`
std::string percent(double share, int decimals);  ///< 0.8554 as `85.54 %`; NaN as a dash
std::string decimal(double value, int decimals);
std::string shortest(float value);  ///< digits enough for the eye: 6
std::string seconds_text(double seconds);

/// At most `length` characters of `text`, the last an ellipsis where some were cut.
std::string shortened(std::string_view text, std::size_t length);
std::size_t characters(std::string_view text);

/// `Written by kith 0.1.0 on 2024-05-06 07:08 UTC.`
std::string written_by();

}  // namespace kith::report
