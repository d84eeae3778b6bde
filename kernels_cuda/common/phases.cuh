// The phases of `nearest` for many queries: the data that scans and `tighten` (nearest_tiles.cu) exchange.
// No twin in kernels_cl: nearest_tiles.cl is a single kernel.
#pragma once

#include "common/metric.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t phase_ratio = 8;
inline constexpr std::uint32_t query_tile = 128;  // number of queries in one scan

/// Which tiles a phase visits: every stride-th, but not every (8 * stride)-th, which an earlier phase
/// visited, unless it is the first.
struct Phase {
  std::uint32_t stride;
  bool first;

  __host__ __device__ std::uint32_t count(std::uint32_t tiles) const {
    const std::uint32_t visited = divide_up(tiles, stride);
    return first ? visited : visited - divide_up(visited, phase_ratio);
  }
  __host__ __device__ std::uint32_t tile(std::uint32_t i) const {
    if (first) return i * stride;
    constexpr std::uint32_t others = phase_ratio - 1;
    return (i / others * phase_ratio + 1 + i % others) * stride;
  }
};

/// The results of scans. Scan (list * parts + part) * query_tiles + query_tile has 128 buffers.
struct Survivors {
  Key* bounds;            // [q, lists]: only smaller keys pass
  std::uint32_t* counts;  // [scans, 128]
  Key* buffers;           // [scans, 128, capacity]
};

struct Scan {
  Rows queries;
  Rows train;
  std::uint32_t shift;  // the number of a row of `train` is its index plus this
  std::uint32_t k;
  std::uint32_t lists;
  std::uint32_t parts;
  std::uint32_t query_tiles;
  Phase phase;
  Survivors survivors;
};

/// The absolute rows of a list, the block at which its first tile of `tile_rows` begins, and the number of
/// its tiles.
struct ListRows {
  std::uint32_t begin, end, first_block, tiles;

  __host__ __device__ ListRows(const Rows& train, std::uint32_t g, std::uint32_t lists,
                               std::uint32_t tile_rows) {
    const Columns columns = columns_of(g, lists, train.rows);
    begin = train.first + columns.begin;
    end = train.first + columns.end;
    first_block = begin / rows_a_block;
    tiles = begin < end ? divide_up(end - first_block * rows_a_block, tile_rows) : 0;
  }
};

/// Constants of scans by points (nearest_low_dim.cu), where one warp makes one list and a tile is one block
/// of rows.
inline constexpr std::uint32_t points_tile = rows_a_block, points_capacity = 64;
inline constexpr std::uint32_t points_warps = 24;  // warps that run on a multiprocessor at once
cudaError_t scan_points(const Queue& queue, Metric metric, const Scan& scan);

}  // namespace kith::cuda
