// collect: appends every row that may be within the threshold to the lists of candidates.
//
//   values     [q, t]         row-major, read once; a masked value, NaN, is never kept
//   threshold  [q, 1]
//   low        [t]            for products: low - value is compared with the threshold, else value
//                             is compared
//   out        [q, capacity]  training rows, in any order; counts [q, 1] grow, even beyond the capacity
//
// Block b scans 1024 columns of some rows, 8 rows at a time: each thread loads 32 values before it tests the
// first. `low` stays in registers. A warp that finds something adds to a count once per row, no matter how
// many of its 128 values passed.
// Work: q * t values are read, and compared once each; for products, also subtracted. No barrier, no shared
// memory. Source: docs/certificate.md, section 4.
#include "propose/candidates.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t chunk_threads = 256, each = 4, batch = 8;
constexpr std::uint32_t chunk = chunk_threads * each;  // columns of a block
constexpr std::uint32_t most_rows = 64;                // rows of a block

/// Returns column v of a thread, counted from the block's first: neighbours, or columns 256 apart.
template <bool vector>
__device__ __forceinline__ std::uint32_t place_of(std::uint32_t v) {
  return vector ? threadIdx.x * each + v : v * chunk_threads + threadIdx.x;
}

struct Collection {
  Matrix<const float> values;  ///< [rows, columns]
  std::uint32_t rows;
  std::uint32_t columns;
  const float* low;               ///< [columns]: low - value is compared; null: value is
  Matrix<const float> threshold;  ///< [rows, 1]
  std::uint32_t first_row;        ///< training row of column 0
  Lists<std::uint32_t> out;
};

/// The columns and rows that a block scans. The first chunk begins `shift` columns before the first column,
/// so that each chunk is aligned to 16 bytes.
struct Shape {
  std::uint32_t chunks;
  std::uint32_t rows;  // rows of a block
  std::uint32_t shift;
};

/// Reads `batch` rows of values from `row` on. Only `rows` of them exist; the others get values that are no
/// candidates. If all exist, the loads follow each other without conditions.
template <bool vector>
__device__ __forceinline__ void read_batch(float (&value)[batch][each], const float* row, std::size_t stride,
                                           std::uint32_t rows, std::int64_t c0, std::uint32_t columns) {
  const bool inside = c0 + place_of<vector>(0) >= 0 && c0 + place_of<vector>(each - 1) < columns;
  if (inside && rows >= batch) {
#pragma unroll
    for (std::uint32_t i = 0; i < batch; ++i) {
      const float* const from = row + i * stride + c0;
      if constexpr (vector) {
        const float4 four = __ldcs(reinterpret_cast<const float4*>(from + place_of<vector>(0)));
        value[i][0] = four.x;
        value[i][1] = four.y;
        value[i][2] = four.z;
        value[i][3] = four.w;
      } else {
#pragma unroll
        for (std::uint32_t v = 0; v < each; ++v) value[i][v] = __ldcs(from + place_of<vector>(v));
      }
    }
    return;
  }
#pragma unroll
  for (std::uint32_t i = 0; i < batch; ++i) {
#pragma unroll
    for (std::uint32_t v = 0; v < each; ++v) {
      const std::int64_t c = c0 + place_of<vector>(v);
      value[i][v] = i < rows && c >= 0 && c < columns ? __ldcs(row + i * stride + c) : not_a_candidate();
    }
  }
}

/// Appends those columns of a warp whose bit is set in `pending`. At least one bit of the warp is set.
template <bool vector>
__device__ __forceinline__ void append(std::uint32_t pending, const Lists<std::uint32_t>& out, std::size_t q,
                                       std::uint32_t first) {
  const std::uint32_t lane = threadIdx.x % 32, before = (1u << lane) - 1;
  std::uint32_t vote[each], total = 0;
#pragma unroll
  for (std::uint32_t v = 0; v < each; ++v) {
    vote[v] = __ballot_sync(whole_warp, (pending >> v & 1) != 0);
    total += __popc(vote[v]);
  }
  if (total == 0) return;
  std::uint32_t place = 0;
  if (lane == 0) place = atomicAdd(out.counts.data + q * out.counts.stride, total);
  place = __shfl_sync(whole_warp, place, 0);
  std::uint32_t* const list = out.rows.data + q * out.rows.stride;
#pragma unroll
  for (std::uint32_t v = 0; v < each; ++v) {
    const std::uint32_t mine = place + __popc(vote[v] & before);
    if ((pending >> v & 1) != 0 && mine < out.capacity) list[mine] = first + place_of<vector>(v);
    place += __popc(vote[v]);
  }
}

template <bool product, bool vector>
__global__ __launch_bounds__(chunk_threads) void scan(const Collection collection, const Shape shape) {
  const std::int64_t c0 =
      static_cast<std::int64_t>(blockIdx.x % shape.chunks) * chunk - static_cast<std::int64_t>(shape.shift);
  const std::uint32_t begin = blockIdx.x / shape.chunks * shape.rows;
  const std::uint32_t end = min(collection.rows - begin, shape.rows) + begin;
  const auto first = static_cast<std::uint32_t>(c0) + collection.first_row;  // wraps around, and back
  float low[each] = {};
#pragma unroll
  for (std::uint32_t v = 0; v < each; ++v) {
    const std::int64_t c = c0 + place_of<vector>(v);
    if (product && c >= 0 && c < collection.columns) low[v] = __ldg(collection.low + c);
  }

  for (std::uint32_t q0 = begin; q0 < end; q0 += batch) {
    const std::uint32_t rows = min(end - q0, batch);
    float value[batch][each], threshold[batch];
    read_batch<vector>(value, collection.values.data + q0 * collection.values.stride,
                       collection.values.stride, rows, c0, collection.columns);
#pragma unroll
    for (std::uint32_t i = 0; i < batch; ++i)
      threshold[i] = __ldg(collection.threshold.data + (q0 + min(i, rows - 1)) * collection.threshold.stride);
    std::uint32_t pending = 0;
#pragma unroll
    for (std::uint32_t i = 0; i < batch; ++i) {
#pragma unroll
      for (std::uint32_t v = 0; v < each; ++v) {
        const float least = product ? low[v] - value[i][v] : value[i][v];
        if (least <= threshold[i]) pending |= 1u << (i * each + v);
      }
    }
    if (!__any_sync(whole_warp, pending != 0)) continue;
#pragma unroll 1
    for (std::uint32_t i = 0; i < rows; ++i)
      append<vector>(pending >> i * each & ((1u << each) - 1), collection.out, q0 + i, first);
  }
}

}  // namespace

cudaError_t collect_values(const Queue& queue, const spi::CollectStep& step) {
  const Collection collection{input_of(step.values),
                              count_of(step.values.rows),
                              count_of(step.values.cols),
                              step.proposer == Proposer::none ? nullptr : low_of(step).low,
                              input_of(step.threshold),
                              step.first_row,
                              lists_of<std::uint32_t>(step.out)};
  const auto misplaced = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(collection.values.data) %
                                                    16 / sizeof(float));
  const bool vector = collection.values.stride % 4 == 0 || collection.rows == 1;
  Shape shape{};
  shape.shift = vector ? misplaced : 0;
  shape.chunks = static_cast<std::uint32_t>(
      divide_up<std::uint64_t>(std::uint64_t{collection.columns} + shape.shift, chunk));
  // A block takes many rows, as long as each multiprocessor gets several blocks.
  const std::uint64_t enough = 8ull * queue.multiprocessors;
  const std::uint64_t rows = std::uint64_t{collection.rows} * shape.chunks / enough / batch * batch;
  shape.rows = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(rows, batch, most_rows));
  const std::uint64_t blocks = std::uint64_t{shape.chunks} * divide_up(collection.rows, shape.rows);
  const auto start = [&](auto kernel) {
    return launch(queue, kernel, blocks, chunk_threads, 0, collection, shape);
  };
  if (collection.low) return vector ? start(scan<true, true>) : start(scan<true, false>);
  return vector ? start(scan<false, true>) : start(scan<false, false>);
}

}  // namespace kith::cuda
