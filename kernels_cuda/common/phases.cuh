// The phases of `nearest` for many queries: what scans and `tighten` (nearest_tiles.cu) hand each other.
// No twin in kernels_cl: nearest_tiles.cl is one kernel, and shares nothing.
#pragma once

#include "common/metric.cuh"

namespace kith::cuda {

inline constexpr std::uint32_t phase_ratio = 8;
inline constexpr std::uint32_t query_tile = 128;  // queries a scan takes together

/// Which tiles a phase visits: every stride-th; where others have been before it, not every
/// (8 * stride)-th.
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

/// What a scan leaves. Its list (group * parts + part) * query_tiles + query_tile has 128 buffers.
struct Survivors {
  Key* bounds;            // [q, groups]: a key must be smaller
  std::uint32_t* counts;  // [lists, 128]
  Key* buffers;           // [lists, 128, capacity]
};

struct Scan {
  Rows queries;
  Rows train;
  std::uint32_t shift;  // from a row of train to its number
  std::uint32_t k;
  std::uint32_t groups;
  std::uint32_t parts;
  std::uint32_t query_tiles;
  Phase phase;
  Survivors survivors;
};

/// Absolute rows of a group, the block its tiles of `tile_rows` begin at, and how many it has.
struct Group {
  std::uint32_t begin, end, first_block, tiles;

  __host__ __device__ Group(const Rows& train, std::uint32_t g, std::uint32_t groups,
                            std::uint32_t tile_rows) {
    const Columns columns = columns_of(g, groups, train.rows);
    begin = train.first + columns.begin;
    end = train.first + columns.end;
    first_block = begin / rows_a_block;
    tiles = begin < end ? divide_up(end - first_block * rows_a_block, tile_rows) : 0;
  }
};

/// Scans by points (nearest_low_dim.cu): a warp a list, tiles of one block of rows.
inline constexpr std::uint32_t points_tile = rows_a_block, points_capacity = 64;
inline constexpr std::uint32_t points_warps = 24;  // on a multiprocessor at once
cudaError_t scan_points(const Queue& queue, Metric metric, const Scan& scan);

}  // namespace kith::cuda
