// collect, fp16: computes inner products on tensor cores and tests them at once; they are never written.
//
//   queries   [q, dims]   train [t, dims]   quantized rows of 16-bit floats (HalfShape)
//   threshold [q, 1]      low, gap [columns]  by place (collect_low.cu)
//   out       [q, capacity]   training rows, in any order, and their bounds; counts [q, 1] grow, even beyond
//                             the capacity
//   sample    [q, columns / 16]   instead of `out`: the least bound of each 16 columns
//
// A block of 4 warps handles 128 queries and, one after another, tiles of 128 training rows. Each warp takes
// 64 by 64 of these, which are 128 sums per thread. Slabs of training rows are copied to shared memory
// unchanged, while earlier ones are multiplied. Queries stay in shared memory if they have few dimensions;
// otherwise they are copied slab by slab as well. For each sum p, low - p is compared with the threshold.
// Blocks that run at the same time share their training rows in the cache.
// Work: q * t * dims multiply-adds in steps of m16n8k16, and two instructions per pair. There is one barrier
// per slab of up to 64 dimensions. Shared memory: 52 KiB and the queries, or 100 KiB; if there is less, 68
// KiB. Source: docs/certificate.md; appending under a threshold: as in FaSTED (Curless, Gowanlock 2025).
#include <cuda_pipeline.h>

#include "common/tensor.cuh"
#include "propose/append_fp16.cuh"
#include "propose/collect_fp16.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t tile_threads = 128, warps_across = 2;
constexpr std::uint32_t block_rows = tile_of_halves, warp_rows = block_rows / warps_across;
constexpr std::uint32_t most_stages = 3, fewest_stages = 2;
constexpr std::uint32_t resident_slabs = 4;                    // with more slabs, queries are staged too
constexpr int across = warp_rows / 16, along = warp_rows / 8;  // matrices of a warp

template <std::uint32_t pieces>
__device__ __forceinline__ void copy_slab(uint4* to, const uint4* from) {
#pragma unroll
  for (std::uint32_t i = 0; i < block_rows * pieces / tile_threads; ++i)
    __pipeline_memcpy_async(to + i * tile_threads + threadIdx.x, from + i * tile_threads + threadIdx.x,
                            sizeof(uint4));
}

/// sums[i][j][e] belongs to the warp's query 16 i + lane / 4 (plus 8 for e >= 2) and to its training row 8 j
/// + 2 (lane % 4) + e % 2.
using TileSums = float[across][along][4];

/// Multiplies 16 dimensions, which are two pieces, for the pairs of a warp.
template <std::uint32_t pieces>
__device__ __forceinline__ void multiply_step(TileSums& sums, const uint4* queries, const uint4* train,
                                              std::uint32_t warp_q, std::uint32_t warp_t, std::uint32_t p,
                                              std::uint32_t lane) {
  std::uint32_t a[across][4], b[along / 2][4];
  // The matrices of a: rows 0-7, rows 8-15, then both for the next 8 dimensions. The matrices of b: rows 0-7,
  // the same for the next 8 dimensions, then both for rows 8-15.
  const std::uint32_t a_row = warp_q + lane % 16, a_piece = p + lane / 16;
  const std::uint32_t b_row = warp_t + lane % 8 + lane / 16 * 8, b_piece = p + lane / 8 % 2;
#pragma unroll
  for (int i = 0; i < across; ++i) load_matrices(a[i], queries + line_place<pieces>(a_row + 16 * i, a_piece));
#pragma unroll
  for (int j = 0; j < along / 2; ++j)
    load_matrices(b[j], train + line_place<pieces>(b_row + 16 * j, b_piece));
#pragma unroll
  for (int j = 0; j < along; ++j)
#pragma unroll
    for (int i = 0; i < across; ++i) multiply(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
}

/// Tests the sums of a warp and appends what passes.
struct Test {
  float threshold[across * 2];  // [i, 2]; NaN if there is no query
  float low[along * 2];
  float minus_unscale;

  /// Computes the values that are compared with the threshold, for queries lane / 4 + 8 h of matrix i.
  __device__ __forceinline__ void places(const TileSums& sums, int i, int h, float (&v)[along * 2]) const {
#pragma unroll
    for (int c = 0; c < along * 2; ++c)
      v[c] = __fmaf_rn(minus_unscale, sums[i][c / 2][2 * h + c % 2], low[c]);
  }

  template <bool sample>
  __device__ __forceinline__ void run(Findings<>& findings, const HalfCollection& collection,
                                      const TileSums& sums, std::uint32_t q0, std::uint32_t place,
                                      std::uint32_t row, std::uint32_t lane) const {
#pragma unroll
    for (int i = 0; i < across; ++i)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float v[along * 2];
        places(sums, i, h, v);
        if constexpr (sample) {
          put_sample(collection, v, q0 + 16 * i + 8 * h + lane / 4, place, lane);
          continue;
        }
        float least[2] = {v[0], v[1]};  // two minima, so that no comparison waits for the one before
#pragma unroll
        for (int c = 2; c < along * 2; ++c) least[c % 2] = fminf(least[c % 2], v[c]);
        if (__any_sync(whole_warp, fminf(least[0], least[1]) <= threshold[2 * i + h]))
          find_near(findings, collection, v, threshold[2 * i + h], q0 + 16 * i + 8 * h + lane / 4, place, row,
                    lane);
      }
  }
};

/// Block b handles queries from 128 (b % query_blocks) on, and part b / query_blocks of the tiles.
template <std::uint32_t pieces, std::uint32_t stages, bool resident, bool sample>
__global__ __launch_bounds__(tile_threads, 2) void collect_halves(const HalfCollection collection,
                                                                  const HalfWork work) {
  extern __shared__ uint4 memory[];
  __shared__ Finding found[tile_threads / 32][findings_of_warp];
  take_turn();
  constexpr std::uint32_t slab_pieces = block_rows * pieces;
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, slabs = work.slabs;
  uint4* const train_stages = memory;                         // [stages, slab_pieces]
  uint4* const query_stages = memory + stages * slab_pieces;  // [stages or slabs, slab_pieces]
  const std::uint32_t query_block = blockIdx.x % work.query_blocks, part = blockIdx.x / work.query_blocks;
  const std::uint32_t begin = part * work.a_part, end = min(begin + work.a_part, work.tiles);
  if (begin >= end) return;
  const std::size_t tile_pieces = std::size_t{slabs} * slab_pieces;
  const uint4* const queries = static_cast<const uint4*>(collection.queries) + query_block * tile_pieces;
  const std::uint32_t total = (end - begin) * slabs;

  const auto load = [&](std::uint32_t s) {
    const std::uint64_t row =
        s < total ? row_of_tile(collection.tiles, begin + s / slabs) : ~std::uint64_t{0};
    if (row < collection.train_rows) {
      copy_slab<pieces>(train_stages + s % stages * slab_pieces, static_cast<const uint4*>(collection.train) +
                                                                     row / block_rows * tile_pieces +
                                                                     s % slabs * slab_pieces);
      if (!resident)
        copy_slab<pieces>(query_stages + s % stages * slab_pieces, queries + s % slabs * slab_pieces);
    }
    __pipeline_commit();
  };
  if (resident)
    for (std::uint32_t s = 0; s < slabs; ++s)
      copy_slab<pieces>(query_stages + s * slab_pieces, queries + s * slab_pieces);
  for (std::uint32_t s = 0; s < stages - 1; ++s) load(s);

  const std::uint32_t warp_q = warp / warps_across * warp_rows, warp_t = warp % warps_across * warp_rows;
  const std::uint32_t q0 = query_block * block_rows + warp_q;
  Test test;
  test.minus_unscale = -collection.unscale;
#pragma unroll
  for (int i = 0; i < across * 2; ++i) {
    const std::uint32_t q = q0 + i * 8 + lane / 4;
    test.threshold[i] =
        q < collection.rows ? collection.threshold.data[q * collection.threshold.stride] : not_a_candidate();
  }

  Findings findings(found[warp], lane);
  std::uint32_t s = 0;
  for (std::uint32_t tile = begin; tile < end; ++tile) {
    const std::uint32_t place = tile * block_rows + warp_t;
    load_low(test.low, collection.from.low + place, lane);  // loaded long before it is needed
    TileSums sums = {};
    for (std::uint32_t i = 0; i < slabs; ++i, ++s) {
      __pipeline_wait_prior(stages - 2);
      __syncthreads();
      load(s + stages - 1);
      const uint4* const query_stage = query_stages + (resident ? i : s % stages) * slab_pieces;
      const uint4* const train_stage = train_stages + s % stages * slab_pieces;
#pragma unroll
      for (std::uint32_t p = 0; p < pieces; p += 2) {
        if (i * pieces + p >= work.used_pieces) break;
        multiply_step<pieces>(sums, query_stage, train_stage, warp_q, warp_t, p, lane);
      }
    }
    const auto row = static_cast<std::uint32_t>(row_of_tile(collection.tiles, tile));
    test.template run<sample>(findings, collection, sums, q0, place, collection.first_row + row + warp_t,
                              lane);
  }
  findings.finish(collection);
}

template <std::uint32_t pieces, std::uint32_t stages, bool resident>
cudaError_t start(const Queue& queue, const HalfCollection& collection, const HalfWork& work,
                  std::uint64_t blocks, std::size_t shared_bytes) {
  const auto kernel = collection.sample.data != nullptr ? collect_halves<pieces, stages, resident, true>
                                                        : collect_halves<pieces, stages, resident, false>;
  return launch_in_turn(queue, kernel, blocks, tile_threads, shared_bytes, collection, work);
}

template <std::uint32_t pieces>
cudaError_t start(const Queue& queue, const HalfCollection& collection) {
  const HalfShape shape = half_shape(collection.dims);
  HalfWork work{};
  work.slabs = shape.slabs;
  work.used_pieces = divide_up(collection.dims, 16u) * 2;
  work.query_blocks = divide_up(collection.rows, block_rows);
  work.tiles = divide_up(collection.columns, block_rows);
  // Two blocks run on a multiprocessor at once; several rounds of them even out the differences between the
  // last ones.
  constexpr std::uint32_t at_once = 2, rounds = 4;
  const std::uint32_t parts = std::clamp<std::uint32_t>(
      divide_up(rounds * at_once * queue.multiprocessors, work.query_blocks), 1, work.tiles);
  work.a_part = divide_up(work.tiles, parts);
  const std::uint64_t blocks = std::uint64_t{work.query_blocks} * parts;
  const auto bytes = [](std::uint32_t slabs) {
    return std::size_t{slabs} * block_rows * pieces * sizeof(uint4);
  };
  const auto fits = [&](std::size_t shared) {
    return shared + sizeof(Finding) * tile_threads / 32 * findings_of_warp <= queue.shared_bytes;
  };
  const std::size_t resident = bytes(most_stages + shape.slabs), staged = bytes(2 * most_stages);
  if (shape.slabs <= resident_slabs && fits(resident))
    return start<pieces, most_stages, true>(queue, collection, work, blocks, resident);
  if (fits(staged)) return start<pieces, most_stages, false>(queue, collection, work, blocks, staged);
  return start<pieces, fewest_stages, false>(queue, collection, work, blocks, bytes(2 * fewest_stages));
}

}  // namespace

cudaError_t collect_fp16(const Queue& queue, const spi::CollectStep& step) {
  const HalfCollection collection = collection_of(step, low_of(step));
  switch (half_shape(collection.dims).pieces) {
    case 2:
      return start<2>(queue, collection);
    case 4:
      return start<4>(queue, collection);
    default:
      return start<8>(queue, collection);
  }
}

}  // namespace kith::cuda
