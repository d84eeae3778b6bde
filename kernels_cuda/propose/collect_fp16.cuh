// What the kernels of collect, fp16, share.
#pragma once

#include "propose/collection.cuh"

namespace kith::cuda {

/// How the work of a step is divided: each block takes some queries and some tiles of training rows.
struct HalfWork {
  std::uint32_t slabs;         // slabs of a tile
  std::uint32_t used_pieces;   // pieces of a row, in whole steps of 16 dimensions; later ones are zeros
  std::uint32_t query_blocks;  // number of blocks of queries
  std::uint32_t tiles;         // number of tiles of training rows of the step
  std::uint32_t a_part;        // number of tiles that a block takes
};

/// Returns the place of piece p of row r in a slab.
template <std::uint32_t pieces>
__device__ __forceinline__ std::uint32_t line_place(std::uint32_t r, std::uint32_t p) {
  return r * pieces + (p ^ r * pieces / 8 % pieces);
}

/// Returns into how many parts the tiles are cut so that all blocks finish soonest. Beside its tiles, a part
/// costs about as much as `overhead` tiles.
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
