// The levels of boxes, as kernels that walk through boxes take them: docs/boxes.md, section 2.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kith/spi.hpp"

namespace kith::cuda {

inline constexpr std::uint32_t width = spi::box_rows;  // rows of a box
inline constexpr std::uint32_t warps = 4;              // warps of a block that walks
inline constexpr unsigned all_lanes = 0xFFFFFFFFu;

/// The place of each level in spi::Boxes::bounds, and its number of boxes.
struct Levels {
  std::uint32_t top;
  std::uint32_t counts[spi::most_box_levels];
  std::size_t blocks[spi::most_box_levels];  ///< number of blocks before the first of the level
};

/// Returns the levels of boxes over n rows.
inline Levels levels_of(std::uint32_t n) {
  Levels levels{spi::box_levels(n) - 1, {}, {}};
  for (std::uint32_t level = 0; level <= levels.top; ++level) {
    levels.counts[level] = spi::boxes_of_level(n, level);
    levels.blocks[level] = spi::blocks_before_level(n, level);
  }
  return levels;
}

}  // namespace kith::cuda
