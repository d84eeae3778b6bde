// What the kernels of collect, fp16, share.
#pragma once

#include "propose/collection.cuh"

namespace kith::cuda {

/// How the work of a step is cut: a block takes some queries and some tiles of training rows.
struct HalfWork {
  std::uint32_t slabs;         // of a tile
  std::uint32_t used_pieces;   // of a row, in whole steps of 16 dimensions; those behind them are zeros
  std::uint32_t query_blocks;  // of all queries
  std::uint32_t tiles;         // of all training rows of the step
  std::uint32_t a_part;        // tiles of a block
};

/// Where piece p of row r stands in a slab.
template <std::uint32_t pieces>
__device__ __forceinline__ std::uint32_t line_place(std::uint32_t r, std::uint32_t p) {
  return r * pieces + (p ^ r * pieces / 8 % pieces);
}

/// Parts to cut the tiles into so that all blocks are done soonest; a part costs about as much as `overhead`
/// tiles beside its own.
inline std::uint32_t best_parts(std::uint32_t query_blocks, std::uint32_t at_once, std::uint32_t tiles,
                                std::uint32_t overhead) {
  constexpr std::uint32_t most_waves = 12;
  std::uint32_t best = 1;
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t waves = 1; waves <= most_waves; ++waves) {
    const std::uint32_t parts = std::clamp(waves * at_once / query_blocks, 1u, tiles);
    const std::uint64_t cost =
        std::uint64_t{divide_up(query_blocks * parts, at_once)} * (divide_up(tiles, parts) + overhead);
    if (cost >= least) continue;
    least = cost;
    best = parts;
  }
  return best;
}

}  // namespace kith::cuda
