// Writes numbers as text, by printf().
#pragma once

#include <array>
#include <charconv>
#include <cstdio>
#include <string>

namespace kith::files {

/// Returns the text that printf() writes, up to 399 bytes.
std::string printed(const char* format, auto... values) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// Returns the fewest digits from which the same number is read.
inline std::string shortest(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace kith::files
