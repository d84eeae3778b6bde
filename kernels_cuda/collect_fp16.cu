// collect, fp16: inner products on tensor cores, tested as they come, never written.
//
//   queries [q, dims]   train [t, dims]   shadows of 16-bit floats, row-major
//   theta   [q, 1]      low   [t]
//   out     [q, capacity]   training rows, in any order; counts [q, 1] grow, beyond the capacity too
//
// A block of 4 warps takes 128 queries and, one after another, tiles of 128 training rows; a warp 64 by
// 64 of each, 128 sums a thread. Training rows come through shared memory in stages of 64 dimensions, copied
// while earlier ones are multiplied; queries stay there where they are few enough dimensions, else they come
// the same way. In a stage a row has 8 pieces of 16 bytes, and piece p of row r stands at place p ^ r % 8, so
// that the 8 rows of a matrix lie in different banks. Of each sum low - p is compared with theta; what
// passes, seldom one of thousands, is appended at once. Blocks that run at the same time share their training
// rows in the cache.
// Work: q * t * dims multiply-adds in steps of m16n8k16, and two instructions a pair. A barrier every 64
// dimensions. Shared memory: 48 KiB and the queries, or 96 KiB.
// Source: docs/certificate.md; appending under a threshold: as in FaSTED (Curless, Gowanlock 2025).
#include <cuda_pipeline.h>

#include "common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 128, warps_across = 2;
constexpr std::uint32_t block_rows = half_padded_rows, warp_rows = block_rows / warps_across;
constexpr std::uint32_t halves_a_piece = sizeof(uint4) / 2, stage_dims = 64, stages = 3;
constexpr std::uint32_t row_pieces = stage_dims / halves_a_piece;        // of a row in a stage
constexpr std::uint32_t stage_pieces = block_rows * row_pieces;          // of one operand: 16 KiB
constexpr std::uint32_t resident_dims = 256;                             // queries of more are staged
constexpr std::uint32_t across = warp_rows / 16, along = warp_rows / 8;  // matrices of a warp

/// Four matrices of 8 rows by 8 halves; lane l gives the address of row l % 8 of matrix l / 8.
__device__ __forceinline__ void load_matrices(std::uint32_t (&to)[4], const uint4* from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(from)))
               : "memory");
}

/// c += a b, a of 16 rows by 16 dimensions, b of 16 dimensions by 8 columns.
__device__ __forceinline__ void multiply(float (&c)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                         std::uint32_t b1) {
#if __CUDA_ARCH__ >= 800
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5,%6,%7},{%8,%9},{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
  __trap();  // check() refuses older chips
#endif
}

/// What all blocks share.
struct Halves {
  const uint4* queries;
  const uint4* train;
  std::uint32_t pitch;  // pieces from row to row
  std::uint32_t query_blocks, train_blocks, splits;
};

/// Where piece p of row r stands in a stage.
__device__ __forceinline__ std::uint32_t place_of(std::uint32_t r, std::uint32_t p) {
  return r * row_pieces + (p ^ r % row_pieces);
}

/// Copy pieces `first` ... of 128 rows, up to 8 of each.
__device__ __forceinline__ void stage(uint4* to, const uint4* rows, std::uint32_t pitch,
                                      std::uint32_t first) {
#pragma unroll
  for (std::uint32_t i = 0; i < stage_pieces / threads; ++i) {
    const std::uint32_t r = (i * threads + threadIdx.x) / row_pieces, p = threadIdx.x % row_pieces;
    if (first + p < pitch)
      __pipeline_memcpy_async(to + place_of(r, p), rows + static_cast<std::size_t>(r) * pitch + first + p,
                              sizeof(uint4));
  }
}

/// Sum [i][j][e] is of query 16 i + lane / 4 (8 more for e >= 2) and training row 8 j + 2 (lane % 4) + e % 2
/// of the warp's.
using Sums = float[across][along][4];

/// 16 dimensions, two pieces, of the pairs of a warp.
__device__ __forceinline__ void multiply_step(Sums& sums, const uint4* queries, const uint4* train,
                                              std::uint32_t warp_q, std::uint32_t warp_t, std::uint32_t p,
                                              std::uint32_t lane) {
  std::uint32_t a[across][4], b[along / 2][4];
  // Of a: rows 0-7, rows 8-15, and both 8 dimensions on. Of b: rows 0-7, the same 8 dimensions on, rows 8-15.
  const std::uint32_t a_row = warp_q + lane % 16, a_piece = p + lane / 16;
  const std::uint32_t b_row = warp_t + lane % 8 + lane / 16 * 8, b_piece = p + lane / 8 % 2;
#pragma unroll
  for (std::uint32_t i = 0; i < across; ++i) load_matrices(a[i], queries + place_of(a_row + 16 * i, a_piece));
#pragma unroll
  for (std::uint32_t j = 0; j < along / 2; ++j)
    load_matrices(b[j], train + place_of(b_row + 16 * j, b_piece));
#pragma unroll
  for (std::uint32_t j = 0; j < along; ++j)
#pragma unroll
    for (std::uint32_t i = 0; i < across; ++i)
      multiply(sums[i][j], a[i], b[j / 2][j % 2 * 2], b[j / 2][j % 2 * 2 + 1]);
}

/// What the sums of a lane are tested with.
struct Test {
  float theta[across * 2];  // [i, 2]; NaN where there is no query
  float2 low[along];        // NaN where there is no row
  float minus_unscale;

  __device__ __forceinline__ void load_low(const HalfCollection& collection, std::uint32_t t0,
                                           std::uint32_t lane) {
#pragma unroll
    for (std::uint32_t j = 0; j < along; ++j) {
      const std::uint32_t t = t0 + j * 8 + lane % 4 * 2;
      low[j].x = t < collection.columns ? __ldg(collection.low + t) : not_a_candidate();
      low[j].y = t + 1 < collection.columns ? __ldg(collection.low + t + 1) : not_a_candidate();
    }
  }

  __device__ __forceinline__ float place(float sum, std::uint32_t j, std::uint32_t e) const {
    return __fmaf_rn(minus_unscale, sum, e % 2 ? low[j].y : low[j].x);
  }

  /// Whether any of the sums passes. The least of each query is compared, so that no comparison waits for
  /// the one before.
  __device__ __forceinline__ bool any_passes(const Sums& sums) const {
    bool some = false;
#pragma unroll
    for (std::uint32_t i = 0; i < across; ++i) {
      float least[4] = {not_a_candidate(), not_a_candidate(), not_a_candidate(), not_a_candidate()};
#pragma unroll
      for (std::uint32_t j = 0; j < along; ++j)
#pragma unroll
        for (std::uint32_t e = 0; e < 4; ++e) least[e] = fminf(least[e], place(sums[i][j][e], j, e));
      some |= fminf(least[0], least[1]) <= theta[2 * i];
      some |= fminf(least[2], least[3]) <= theta[2 * i + 1];
    }
    return some;
  }
};

/// Append what passes. Each lane notes its own first, so that all lanes wait for their places at once.
__device__ __forceinline__ void append_passing(const Sums& sums, const Test& test,
                                               const HalfCollection& collection, std::uint32_t q0,
                                               std::uint32_t t0, std::uint32_t lane) {
#pragma unroll
  for (std::uint32_t i = 0; i < across; ++i) {
    std::uint32_t pending = 0;
#pragma unroll
    for (std::uint32_t j = 0; j < along; ++j)
#pragma unroll
      for (std::uint32_t e = 0; e < 4; ++e)
        if (test.place(sums[i][j][e], j, e) <= test.theta[2 * i + e / 2]) pending |= 1u << (j * 4 + e);
    while (pending != 0) {
      const auto at = static_cast<std::uint32_t>(__ffs(static_cast<int>(pending))) - 1;
      pending &= pending - 1;
      const std::uint32_t q = q0 + i * 16 + lane / 4 + at % 4 / 2 * 8;
      const std::uint32_t place =
          atomicAdd(collection.out.counts.data + q * collection.out.counts.stride, 1u);
      if (place < collection.out.capacity)
        collection.out.rows.data[q * collection.out.rows.stride + place] =
            collection.first_row + t0 + at / 4 * 8 + lane % 4 * 2 + at % 2;
    }
  }
}

/// Block b takes queries 128 (b % query_blocks) ... and part b / query_blocks of the training rows.
template <bool resident>
__global__ __launch_bounds__(threads, 2) void collect_halves(const HalfCollection collection,
                                                             const Halves halves) {
  extern __shared__ uint4 memory[];
  const std::uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32, pitch = halves.pitch;
  uint4* const train_stages = memory;                          // [stages, stage_pieces]
  uint4* const query_stages = memory + stages * stage_pieces;  // the same, or [a_block, stage_pieces]
  const std::uint32_t query_block = blockIdx.x % halves.query_blocks, part = blockIdx.x / halves.query_blocks;
  const std::uint32_t a_part = divide_up(halves.train_blocks, halves.splits);
  const std::uint32_t begin = part * a_part, end = min(begin + a_part, halves.train_blocks);
  if (begin >= end) return;
  const std::size_t block_pieces = static_cast<std::size_t>(block_rows) * pitch;
  const uint4* const queries = halves.queries + query_block * block_pieces;
  const std::uint32_t a_block = divide_up(pitch, row_pieces);  // stages of a block of training rows
  const std::uint32_t total = (end - begin) * a_block;

  const auto load = [&](std::uint32_t s) {
    if (s < total) {
      const std::uint32_t first = s % a_block * row_pieces;
      stage(train_stages + s % stages * stage_pieces, halves.train + (begin + s / a_block) * block_pieces,
            pitch, first);
      if (!resident) stage(query_stages + s % stages * stage_pieces, queries, pitch, first);
    }
    __pipeline_commit();
  };
  if (resident)
    for (std::uint32_t s = 0; s < a_block; ++s)
      stage(query_stages + s * stage_pieces, queries, pitch, s * row_pieces);
  for (std::uint32_t s = 0; s < stages - 1; ++s) load(s);

  const std::uint32_t warp_q = warp / warps_across * warp_rows, warp_t = warp % warps_across * warp_rows;
  const std::uint32_t q0 = query_block * block_rows + warp_q;
  Test test;
  test.minus_unscale = -collection.unscale;
#pragma unroll
  for (std::uint32_t i = 0; i < across * 2; ++i) {
    const std::uint32_t q = q0 + i * 8 + lane / 4;
    test.theta[i] =
        q < collection.rows ? collection.theta.data[q * collection.theta.stride] : not_a_candidate();
  }

  std::uint32_t s = 0;
  for (std::uint32_t block = begin; block < end; ++block) {
    const std::uint32_t t0 = block * block_rows + warp_t;
    test.load_low(collection, t0, lane);  // long before it is needed
    Sums sums = {};
    for (std::uint32_t i = 0; i < a_block; ++i, ++s) {
      __pipeline_wait_prior(stages - 2);
      __syncthreads();
      load(s + stages - 1);
      const uint4* const query_stage = query_stages + (resident ? i : s % stages) * stage_pieces;
      const uint4* const train_stage = train_stages + s % stages * stage_pieces;
#pragma unroll
      for (std::uint32_t p = 0; p < row_pieces; p += 2) {
        if (i * row_pieces + p >= pitch) break;
        multiply_step(sums, query_stage, train_stage, warp_q, warp_t, p, lane);
      }
    }
    if (test.any_passes(sums)) append_passing(sums, test, collection, q0, t0, lane);
  }
}

}  // namespace

cudaError_t collect_fp16(const Queue& queue, const HalfCollection& collection) {
  Halves halves{};
  halves.queries = static_cast<const uint4*>(collection.queries);
  halves.train = static_cast<const uint4*>(collection.train);
  halves.pitch = static_cast<std::uint32_t>(half_pitch(collection.dims) / halves_a_piece);
  halves.query_blocks = divide_up(collection.rows, block_rows);
  halves.train_blocks = divide_up(collection.columns, block_rows);
  // Two blocks a multiprocessor run at once; several rounds of them even out what the last ones take.
  constexpr std::uint32_t at_once = 2, rounds = 4;
  halves.splits = std::clamp<std::uint32_t>(
      divide_up(rounds * at_once * queue.multiprocessors, halves.query_blocks), 1, halves.train_blocks);
  const bool resident = collection.dims <= resident_dims;
  const std::uint32_t query_stages = resident ? divide_up(halves.pitch, row_pieces) : stages;
  return launch(queue, resident ? collect_halves<true> : collect_halves<false>,
                std::uint64_t{halves.query_blocks} * halves.splits, threads,
                std::size_t{stages + query_stages} * stage_pieces * sizeof(uint4), collection, halves);
}

}  // namespace kith::cuda
