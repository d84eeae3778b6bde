// nearest, for many queries of few dimensions: the scan of one phase (nearest_tiles.cu).
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//
// A warp computes the distances of 128 queries, four per lane, from the rows of one of the `parts` parts of
// the phase. Queries and bounds stay in registers. Blocks of 32 rows are copied to shared memory while
// earlier ones are accumulated, four rows at a time. The few keys below the bound go to the buffer of (query,
// list, part), which belongs to one lane: no atomics are needed, and warps never wait for each other. When a
// buffer is nearly full, the warp sorts it, and the bound falls.
// Work: 2 dims + 1 instructions per pair, and 4 dims + 16 more for 16 pairs. Shared memory: 4 KiB per
// dimension and 8 KiB. Source: register tiling as in tile.cuh; the filter before selection of Johnson, Douze,
// Jegou 2017 (FAISS).
#include <cuda_pipeline.h>

#include "common/phases.cuh"
#include "common/sort.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t points_threads = 256, warps = points_threads / 32;
constexpr std::uint32_t points_stages = 4;  // blocks of rows in shared memory
constexpr std::uint32_t all_lanes = 0xFFFFFFFFu;

/// The four lists of a lane.
struct Lists {
  float limit[4];        // bound_value(bound)
  std::uint32_t counts;  // the number of keys in each buffer, in a byte each
  Key* bound;            // [4] in shared memory
  Key* buffers;          // [4, points_capacity]

  __device__ std::uint32_t count(int e) const { return counts >> (8 * e) & 0xFFu; }
  /// Returns bit 8 e + 6 as 1 if buffer e has no room for four more keys.
  __device__ std::uint32_t full() const { return (counts + 0x03030303u) & 0x40404040u; }
};

/// The warp sorts a buffer, keeps the k smallest, and lowers the bound.
__device__ void shrink(Key* buffer, std::uint32_t count, std::uint32_t k, Key* bound) {
  const std::uint32_t lane = threadIdx.x % 32;
  Key key[2] = {lane < count ? buffer[lane] : no_key, lane + 32 < count ? buffer[lane + 32] : no_key};
  __syncwarp();
  sort_warp(key, lane);
#pragma unroll
  for (std::uint32_t e = 0; e < 2; ++e) {
    const std::uint32_t j = lane * 2 + e;
    if (j < k) buffer[j] = key[e];
    if (j == k - 1) *bound = min(*bound, key[e]);
  }
}

/// Shrinks all buffers of the warp that are nearly full.
__device__ void shrink_full(Lists& lists, std::uint32_t k) {
  const std::uint32_t full = lists.full(), lane = threadIdx.x % 32;
  std::uint32_t lanes = __ballot_sync(all_lanes, full != 0);
  if (lanes == 0) return;
  __syncwarp();
  for (; lanes != 0; lanes &= lanes - 1) {
    const int source = __ffs(lanes) - 1;
    const std::uint32_t their_full = __shfl_sync(all_lanes, full, source);
    const std::uint32_t their_counts = __shfl_sync(all_lanes, lists.counts, source);
    const auto ahead = source - static_cast<int>(lane);  // lists are in the order of lanes
    for (int e = 0; e < 4; ++e) {
      if ((their_full >> (8 * e + 6) & 1) == 0) continue;
      const int list = ahead * 4 + e;
      shrink(lists.buffers + list * static_cast<int>(points_capacity), their_counts >> (8 * e) & 0xFFu, k,
             lists.bound + list);
    }
  }
  __syncwarp();
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    if ((full >> (8 * e + 6) & 1) == 0) continue;
    lists.limit[e] = bound_value(lists.bound[e]);
    lists.counts = (lists.counts & ~(0xFFu << (8 * e))) | k << (8 * e);
  }
}

/// Computes the chains of the lane's four queries with four rows.
///   a     [dims, 4]            values of the queries
///   rows  [dims, points_tile]  in shared memory, from the first of the four rows on
template <Metric metric, int dims>
__device__ __forceinline__ void accumulate_rows(float (&acc)[4][4], const float (&a)[dims][4],
                                                const float* rows) {
#pragma unroll
  for (int e = 0; e < 16; ++e) acc[e / 4][e % 4] = Chain<metric>::start();
#pragma unroll
  for (int d = 0; d < dims; ++d) {
    const float4 b = *reinterpret_cast<const float4*>(rows + d * points_tile);
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      acc[e][0] = Chain<metric>::next(acc[e][0], a[d][e], b.x);
      acc[e][1] = Chain<metric>::next(acc[e][1], a[d][e], b.y);
      acc[e][2] = Chain<metric>::next(acc[e][2], a[d][e], b.z);
      acc[e][3] = Chain<metric>::next(acc[e][3], a[d][e], b.w);
    }
  }
}

/// Puts those of four rows, from `row0` on, that are below a bound into the buffers.
///   least  [4]  the least of the four chains of each query
__device__ __forceinline__ void keep_near(Lists& lists, const float (&acc)[4][4], const float (&least)[4],
                                          std::uint32_t row0, const ListRows& rows, std::uint32_t shift) {
#pragma unroll
  for (int e = 0; e < 4; ++e) {
    if (!(least[e] <= lists.limit[e])) continue;
#pragma unroll
    for (std::uint32_t j = 0; j < 4; ++j) {
      const std::uint32_t r = row0 + j;
      if (!(acc[e][j] <= lists.limit[e]) || r < rows.begin || r >= rows.end) continue;
      const Key key = key_of(acc[e][j], r + shift);
      if (key >= lists.bound[e]) continue;
      lists.buffers[static_cast<std::uint32_t>(e) * points_capacity + lists.count(e)] = key;
      lists.counts += 1u << (8 * e);
    }
  }
}

template <Metric metric, int dims>
__global__ __launch_bounds__(points_threads,
                             points_warps / warps) void scan_of_points(const Scan scan,
                                                                       const std::uint32_t scans) {
  __shared__ __align__(16) float memory[warps][points_stages][dims * points_tile];
  __shared__ Key bounds[warps][query_tile];
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t number = blockIdx.x * warps + warp;
  if (number >= scans) return;
  const std::uint32_t list = number / scan.query_tiles, g = list / scan.parts, part = list % scan.parts;

  // The lane's four queries are neighbours.
  const std::uint32_t last_block = (scan.queries.first + scan.queries.rows - 1) / rows_a_block;
  const std::uint32_t query_block =
      scan.queries.first / rows_a_block + number % scan.query_tiles * (query_tile / rows_a_block);
  const float* const from =
      scan.queries.data +
      static_cast<std::size_t>(min(query_block + lane / 8, last_block)) * dims * rows_a_block + lane % 8 * 4;
  float a[dims][4];
#pragma unroll
  for (int d = 0; d < dims; ++d)
    *reinterpret_cast<float4*>(a[d]) = __ldg(reinterpret_cast<const float4*>(from + d * rows_a_block));
  const std::uint32_t q0 = query_block * rows_a_block + lane * 4 - scan.queries.first;  // may wrap around
  Lists lists;
  lists.counts = 0;
  lists.bound = &bounds[warp][lane * 4];
  lists.buffers = scan.survivors.buffers + (std::size_t{number} * query_tile + lane * 4) * points_capacity;
#pragma unroll
  for (std::uint32_t e = 0; e < 4; ++e) {
    Key bound = 0;  // no key is below it
    if (q0 + e < scan.queries.rows)
      bound = scan.phase.first ? no_key
                               : scan.survivors.bounds[static_cast<std::size_t>(q0 + e) * scan.lists + g];
    lists.bound[e] = bound;
    lists.limit[e] = bound_value(bound);
  }

  const ListRows rows(scan.train, g, scan.lists, points_tile);
  const std::uint64_t all = scan.phase.count(rows.tiles);
  const auto begin = static_cast<std::uint32_t>(all * part / scan.parts);
  const std::uint32_t tiles = static_cast<std::uint32_t>(all * (part + 1) / scan.parts) - begin;
  const auto block_of = [&](std::uint32_t i) { return rows.first_block + scan.phase.tile(begin + i); };
  const auto copy = [&](std::uint32_t i) {
    if (i < tiles) {
      const float* block = scan.train.data + static_cast<std::size_t>(block_of(i)) * dims * rows_a_block;
      for (std::uint32_t at = lane * 4; at < dims * points_tile; at += 128)
        __pipeline_memcpy_async(&memory[warp][i % points_stages][at], block + at, 16);
    }
    __pipeline_commit();
  };

  for (std::uint32_t i = 0; i + 1 < points_stages; ++i) copy(i);
  for (std::uint32_t i = 0; i < tiles; ++i) {
    __pipeline_wait_prior(points_stages - 2);
    __syncwarp();
    copy(i + points_stages - 1);  // replaces the block that was accumulated before this one
    const float* const points = memory[warp][i % points_stages];
    const std::uint32_t row0 = block_of(i) * rows_a_block;
#pragma unroll 2
    for (std::uint32_t p = 0; p < points_tile; p += 4) {
      float acc[4][4];
      accumulate_rows<metric, dims>(acc, a, points + p);
      float least[4];
      bool any = false;
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        least[e] = fminf(fminf(acc[e][0], acc[e][1]), fminf(acc[e][2], acc[e][3]));
        any |= least[e] <= lists.limit[e];
      }
      if (!__any_sync(all_lanes, any)) continue;

      keep_near(lists, acc, least, row0 + p, rows, scan.shift);
      shrink_full(lists, scan.k);
    }
  }

#pragma unroll
  for (std::uint32_t e = 0; e < 4; ++e)
    scan.survivors.counts[std::size_t{number} * query_tile + lane * 4 + e] = lists.count(static_cast<int>(e));
}

template <int dims>
cudaError_t launch_points(const Queue& queue, Metric metric, const Scan& scan) {
  if (scan.train.dims != dims) {
    if constexpr (dims < low_dim_max_dims) return launch_points<dims + 1>(queue, metric, scan);
    return cudaErrorInvalidValue;
  }
  const std::uint32_t scans = scan.query_tiles * scan.lists * scan.parts;
  return with_chain(metric, [&](auto chain) {
    return launch(queue, scan_of_points<decltype(chain)::value, dims>, divide_up(scans, warps),
                  points_threads, 0, scan, scans);
  });
}

}  // namespace

cudaError_t scan_points(const Queue& queue, Metric metric, const Scan& scan) {
  return launch_points<1>(queue, metric, scan);
}

}  // namespace kith::cuda
