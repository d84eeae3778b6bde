// accumulate: computes the smallest distance, and the sum of distances, of each query to each class. Sums are
// pairs of floats.
//
//   distances  [q, t]         labels [t]   class of each column
//   smallest   [q, classes]   in and out
//   high, low  [q, classes]   in and out: high + low is the sum
//
// Each lane adds the columns of one query in ascending order, as kith/spi.hpp requires. The values of the
// current class stay in registers, and are swapped only when the class changes: seldom, if columns are sorted
// by class; but any order is right. A warp handles 32 queries and those classes c for which c % parts is its
// part, so that few queries still keep the device busy. It scans the labels of 1024 columns at once. Tiles of
// 32 columns that contain one of its classes pass through shared memory, because reading is fast along
// columns and adding is fast along queries. The next tile is loaded while one is added.
// Work: ten instructions for each column that counts; shared memory: 4 KiB per warp. Warps never wait for
// each other. Source: the mean distances of the KNN-Classifier (docs/methods.md); TwoSum (Knuth).
#include <cfloat>

#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t accumulate_threads = 128, columns_of_tile = 32, tiles_at_once = 32;
constexpr std::uint32_t pitch = columns_of_tile + 1;  // avoids bank conflicts in both directions
constexpr std::uint32_t whole_warp = 0xFFFFFFFFu;

struct Accumulation {
  Matrix<const float> distances;  ///< [rows, columns]
  std::uint64_t rows;
  std::uint64_t columns;
  const std::uint32_t* labels;  ///< [columns]
  std::uint32_t classes;
  Matrix<float> smallest;   ///< [rows, classes]
  Matrix<float> high, low;  ///< [rows, classes]
};

/// The running values of one class.
struct Sums {
  std::uint32_t current = no_row;  ///< the class
  float smallest = 0, high = 0, low = 0;

  __device__ __forceinline__ void add(float distance) {
    const float x = distance == 0.0f ? 0.0f : distance;  // -0 becomes +0
    const float sum = high + x, part = sum - high;
    const float more = low + ((high - (sum - part)) + (x - part));
    smallest = x < smallest ? x : smallest;
    low = fabsf(sum) <= FLT_MAX ? more : low;
    high = sum;
  }
};

/// Where a lane stores the values of its query.
struct Places {
  float *smallest, *high, *low;
  bool exist;

  __device__ __forceinline__ void put(const Sums& sums) const {
    if (!exist || sums.current == no_row) return;
    smallest[sums.current] = sums.smallest;
    high[sums.current] = sums.high;
    low[sums.current] = sums.low;
  }
  __device__ __forceinline__ void take(Sums& sums, std::uint32_t c) const {
    sums.current = c;
    if (!exist) return;
    sums.smallest = smallest[c];
    sums.high = high[c];
    sums.low = low[c];
  }
};

/// Loads 32 distances of column t, one for each query from q0 on; 0 outside of the matrix.
__device__ __forceinline__ void fetch(const Accumulation& of, std::uint64_t q0, std::uint64_t t,
                                      float (&next)[32]) {
  const float* const from = of.distances.data + q0 * of.distances.stride + t;
#pragma unroll
  for (std::uint32_t r = 0; r < 32; ++r)
    next[r] = q0 + r < of.rows && t < of.columns ? from[r * of.distances.stride] : 0.0f;
}

/// Adds the distances of those columns of a tile whose bit in `wanted` is 1 to the sums of their classes.
///   staged  [32]  distances of this lane's query to the columns of the tile
///   label   class of the column whose number in the tile is this lane's
__device__ __forceinline__ void add_tile(const float* staged, std::uint32_t wanted, std::uint32_t label,
                                         const Places& places, Sums& sums) {
  const bool mine = wanted >> threadIdx.x % 32 & 1;
  if (wanted == whole_warp && __all_sync(whole_warp, label == sums.current)) {
#pragma unroll
    for (std::uint32_t j = 0; j < columns_of_tile; ++j) sums.add(staged[j]);
    return;
  }
  const std::uint32_t known = mine ? label : no_row;
  for (std::uint32_t j = 0; j < columns_of_tile; ++j) {
    const std::uint32_t c = __shfl_sync(whole_warp, known, static_cast<int>(j));
    if (c == no_row) continue;
    if (c != sums.current) {
      places.put(sums);
      places.take(sums, c);
    }
    sums.add(staged[j]);
  }
}

/// Returns to lane i a mask of those columns of tile i, counted from s0 on, whose class belongs to this part.
__device__ __forceinline__ std::uint32_t find_columns(const Accumulation& of, std::uint64_t s0,
                                                      std::uint32_t part, std::uint32_t parts) {
  const std::uint32_t lane = threadIdx.x % 32;
  std::uint32_t found = 0;
#pragma unroll 8
  for (std::uint32_t i = 0; i < tiles_at_once; ++i) {
    const std::uint64_t t = s0 + i * columns_of_tile + lane;
    const std::uint32_t columns = __ballot_sync(whole_warp, t < of.columns && of.labels[t] % parts == part);
    if (lane == i) found = columns;
  }
  return found;
}

__global__ __launch_bounds__(accumulate_threads) void accumulate_by_warp(const Accumulation of,
                                                                         const std::uint32_t parts) {
  __shared__ float staged_of_warp[accumulate_threads / 32][32 * pitch];
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const std::uint32_t part = blockIdx.x % parts;
  const std::uint64_t q0 = std::uint64_t{blockIdx.x / parts} * accumulate_threads + warp * 32, q = q0 + lane;
  if (q0 >= of.rows) return;  // all lanes of the warp return
  float* const staged = staged_of_warp[warp];
  const Places places{of.smallest.data + q * of.smallest.stride, of.high.data + q * of.high.stride,
                      of.low.data + q * of.low.stride, q < of.rows};
  Sums sums;
  for (std::uint64_t s0 = 0; s0 < of.columns; s0 += tiles_at_once * columns_of_tile) {
    const std::uint32_t found = find_columns(of, s0, part, parts);
    std::uint32_t tiles = __ballot_sync(whole_warp, found != 0);
    std::uint32_t i = static_cast<std::uint32_t>(__ffs(static_cast<int>(tiles))) - 1;
    float next[32];
    if (tiles) fetch(of, q0, s0 + i * columns_of_tile + lane, next);
    while (tiles) {
      const std::uint64_t t = s0 + i * columns_of_tile + lane;
      const std::uint32_t wanted = __shfl_sync(whole_warp, found, static_cast<int>(i));
      const std::uint32_t label = t < of.columns ? of.labels[t] : no_row;
#pragma unroll
      for (std::uint32_t r = 0; r < 32; ++r) staged[r * pitch + lane] = next[r];
      __syncwarp();
      tiles &= tiles - 1;
      i = static_cast<std::uint32_t>(__ffs(static_cast<int>(tiles))) - 1;
      if (tiles) fetch(of, q0, s0 + i * columns_of_tile + lane, next);
      add_tile(staged + lane * pitch, wanted, label, places, sums);
      __syncwarp();
    }
  }
  places.put(sums);
}

}  // namespace

cudaError_t accumulate(const Queue& queue, const spi::AccumulateStep& step) {
  const Accumulation accumulation{input_of(step.distances),   step.distances.rows, step.distances.cols,
                                  input_of(step.labels).data, step.classes,        matrix_of(step.smallest),
                                  matrix_of(step.high),       matrix_of(step.low)};
  // Classes are divided into parts if queries alone do not keep all schedulers busy.
  const std::uint64_t blocks = divide_up<std::uint64_t>(accumulation.rows, accumulate_threads);
  if (blocks == 0) return cudaSuccess;
  const std::uint64_t wanted = divide_up<std::uint64_t>(4 * std::uint64_t{queue.multiprocessors}, blocks);
  const auto parts = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(wanted, 1, accumulation.classes));
  return launch(queue, accumulate_by_warp, blocks * parts, accumulate_threads, 0, accumulation, parts);
}

}  // namespace kith::cuda
