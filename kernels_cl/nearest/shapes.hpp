// Says how large launches of nearest are.
// No twin in kernels_cuda: launchers there compute their shapes where they launch.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "common/shapes.hpp"
#include "kith/key.hpp"
#include "kith/spi.hpp"

namespace kith::opencl {

/// The compile-time sizes of nearest_rows.cl: the neighbouring rows that a work-item takes per step, the
/// queries of a pass, the buffers, which take up to 40 KiB of local memory beside 4 KiB for a first bound,
/// and whether the queries fit as well. If a list has few rows, items of a pass of 16 take two rows, so
/// that all items are busy, and items of a single query take several times four rows, so that all rows are
/// read at once.
struct RowsShape {
  static constexpr std::uint32_t group = 256;  // work-items; NVIDIA's driver accepts no larger kernels
  static constexpr std::uint32_t most_pieces = 10;
  std::uint32_t width = 4, pieces = 1;
  std::uint32_t pass, list_size, capacity, parts;
  std::size_t staged_bytes;

  RowsShape(const spi::NearestStep& step, std::size_t local_memory_bytes) {
    list_size = std::bit_ceil(step.k);
    const std::size_t most = std::min<std::size_t>(40960, local_memory_bytes - 5120);
    capacity = std::max(64u, list_size);
    pass = std::min(spi::batch_queries, std::bit_ceil(step.queries.rows));
    while (pass > 1 && bytes() > most) pass /= 2;
    if (pass == 1) capacity = std::max(512u, list_size);
    parts = parts_for(step.k, 512 / pass);
    staged_bytes = std::size_t{pass} * step.queries.dims * sizeof(float);
    if (pass < 8 || bytes() + staged_bytes > most) staged_bytes = 0;

    const std::uint32_t rows = divide_up(step.train.rows, step.lists);
    if (pass == spi::batch_queries && rows <= 2 * group) width = 2;
    const std::uint32_t at_once =
        divide_up(rows + width - 1, std::size_t{group} * width);  // rows may begin amid an item's four
    if (pass == 1 && at_once <= most_pieces) pieces = at_once <= 1 ? 1 : at_once <= 5 ? 5 : most_pieces;
  }
  ShortlistSizes sizes() const { return {list_size, capacity, capacity / 4 * 3, parts}; }
  std::size_t bytes() const { return std::size_t{pass} * (list_size + capacity) * sizeof(Key); }
};

// These are the limits of nearest_low_dim.cl.
constexpr std::uint32_t low_dim_max_dims = 16;  // dimensions that fit into registers
constexpr std::uint32_t low_dim_max_k = 32;     // keys that fit into registers
constexpr std::uint32_t low_dim_group = 128;    // work-items

constexpr std::uint32_t tile_merge_at = 32;  // candidates per query worth a merge (nearest_tiles.cl)

/// Returns the scratch of nearest_tiles.cl.
inline std::size_t queue_bytes(const spi::NearestStep& step) {
  constexpr std::size_t tile = spi::tile_rows;
  const std::size_t tiles = (std::size_t{step.queries.rows} + step.queries.block - 1 + tile - 1) / tile;
  return tiles * step.lists * tile * (tile_merge_at + tile) * sizeof(Key);
}

}  // namespace kith::opencl
