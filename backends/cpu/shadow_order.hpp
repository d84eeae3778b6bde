// Where the elements of shadows lie: prepare writes them for the kernels that propose.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/spi.hpp"

namespace kith::cpu {

/// dot: blocks like those of the rows they are made of (spi::RowBlocks), from row 0 of the grid.
struct FloatOrder {
  std::size_t block, dims;

  std::size_t place_of(std::size_t r, std::size_t d) const {
    return (r / block * dims + d) * block + r % block;
  }
};

/// bf16: tiles of 16 rows by 32 dimensions, all tiles of 16 rows one behind the other. In a tile, queries
/// stand row by row; training rows in pairs of dimensions, 16 rows side by side.
struct TileOrder {
  static constexpr std::size_t rows = 16, dims = 32, pair = 2;
  std::size_t tiles;  ///< of a row
  bool of_queries;

  std::size_t place_of(std::size_t r, std::size_t d) const {
    const std::size_t tile = (r / rows * tiles + d / dims) * (rows * dims), row = r % rows, at = d % dims;
    return tile + (of_queries ? row * dims + at : (at / pair * rows + row) * pair + at % pair);
  }
};

/// `value` as the upper half of a float, rounded to nearest, ties to even; what is subnormal becomes 0, for
/// matrix units take it so.
inline std::uint16_t to_bf16(float value) {
  std::uint32_t bits;

  __builtin_memcpy(&bits, &value, sizeof bits);
  const auto rounded = static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
  return (rounded & 0x7F80u) == 0 ? static_cast<std::uint16_t>(rounded & 0x8000u) : rounded;
}

inline float from_bf16(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace kith::cpu
