// Numbers as text, by printf().
#pragma once

#include <array>
#include <cstdio>
#include <string>

namespace kith::files {

/// What printf() writes, up to 399 bytes.
std::string printed(const char* format, auto... values) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

}  // namespace kith::files
