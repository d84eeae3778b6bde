// Writes numbers into messages, and makes text from files safe to print.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace kith {

/// Writes nine digits, which are enough to distinguish any two floats.
inline std::string text_of(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}
inline std::string text_of(float value) {
  return text_of(static_cast<double>(value));
}

/// Writes a place such as `training row 3, column 0`.
inline std::string place_text(std::string_view what, std::int64_t row, std::int64_t column) {
  return std::string(what) + " row " + std::to_string(row) + ", column " + std::to_string(column);
}

/// Makes untrusted text from a file safe for a terminal: it writes bytes that are not printable ASCII as
/// `\x9b`, and cuts the text after 80 bytes.
inline std::string escaped(std::string_view text) {
  constexpr std::size_t longest = 80;
  std::string result;
  for (const char c : text.substr(0, longest)) {
    if (c >= ' ' && c <= '~') {
      result += c;
      continue;
    }
    char buffer[8];
    std::snprintf(buffer, sizeof buffer, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
    result += buffer;
  }
  return text.size() > longest ? result + "..." : result;
}

}  // namespace kith
