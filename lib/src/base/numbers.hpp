// Whole numbers: the library counts in 64 bits with a sign, memory without one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kith {

inline std::size_t size(std::int64_t value) {
  return static_cast<std::size_t>(value);
}

inline std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

}  // namespace kith
