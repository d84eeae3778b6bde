// Numbers in messages.
#pragma once

#include <cstdio>
#include <string>

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

}  // namespace kith
