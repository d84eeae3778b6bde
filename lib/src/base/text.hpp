// Numbers in messages, and text of files in them.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace kith {

/// Nine digits: enough to tell every two floats apart.
inline std::string text_of(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}
inline std::string text_of(float value) {
  return text_of(static_cast<double>(value));
}

/// Text of a file that may be anybody's, for a terminal: bytes that are no printable ASCII as `\x9b`, and not
/// much of it.
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
