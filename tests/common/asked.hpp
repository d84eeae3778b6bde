// Reads what the environment asks of tests by chance: how many cases, from which seed, and of what alone.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace kith::tests {

/// Returns the number that a variable names, such as 20000 or 1e8, or `otherwise` if it is not set. Fails for
/// anything but a number from 0 to 2^53.
inline std::int64_t asked_number(const char* variable, std::int64_t otherwise) {
  const char* const text = std::getenv(variable);
  if (!text) return otherwise;
  char* end = nullptr;
  const double number = std::strtod(text, &end);
  const bool is_number = end != text && *end == 0 && number >= 0 && number <= 0x1p53;
  if (!is_number) throw std::invalid_argument(std::string(variable) + " is " + text + "; give a number");
  return static_cast<std::int64_t>(number);
}

/// Returns the seed that a variable names, or `otherwise`.
inline std::uint32_t asked_seed(const char* variable, std::int64_t otherwise) {
  return static_cast<std::uint32_t>(asked_number(variable, otherwise));
}

/// Returns whether a part is wanted: the variable is not set, or names it.
inline bool is_asked(const char* variable, std::string_view part) {
  const char* const asked = std::getenv(variable);
  return !asked || asked == part;
}

}  // namespace kith::tests
