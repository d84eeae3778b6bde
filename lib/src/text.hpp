// Numbers, and somebody else's text, in messages.
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

/// Text from a file or a caller: at most 100 bytes of it, and those that a terminal may obey written out.
inline std::string shown(std::string_view text) {
  constexpr std::size_t longest = 100;
  std::string result;
  for (const char c : text.substr(0, longest)) {
    const auto byte = static_cast<unsigned char>(c);
    char written[8];
    std::snprintf(written, sizeof written, byte < ' ' || byte > '~' ? "\\x%02x" : "%c", byte);
    result += written;
  }
  return text.size() > longest ? result + "..." : result;
}

}  // namespace kith
