// Makes rows of numbers that every element type can hold.
#pragma once

#include <cstdint>

#include "common/data.hpp"

namespace kith::tests {

/// Returns random whole numbers from 1 to 64.
inline Matrix bytes_as_floats(std::int64_t rows, std::int64_t dims, std::uint64_t seed) {
  Matrix made{rows, dims, {}};
  for (std::int64_t i = 0; i < rows * dims; ++i) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    made.values.push_back(static_cast<float>(seed >> 58) + 1);
  }
  return made;
}

}  // namespace kith::tests
