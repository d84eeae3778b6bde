// A block of 256 threads computes the chains of a tile of 128 queries with 128 training rows.
//
// Each thread computes the distances of 8 queries from 8 rows in registers; on either side these are two runs
// of four, 64 apart. `depth` dimensions of both sides make a piece, which is copied to shared memory. While
// one of `stages` pieces is accumulated, the next ones are being copied (by cp.async if the device has it),
// also across the border between two tiles. Each piece costs one barrier. Rows are stored in transposed
// blocks of 32, so that a piece of a block is 1 KiB of contiguous memory, and is copied without
// rearrangement. Shared memory: 32 KiB.
// Work: 128 arithmetic instructions for 4 vector loads, per dimension and thread. Source: the register tiling
// of Volkov, Demmel, Benchmarking GPUs to tune dense linear algebra, 2008.
#pragma once

#include <cuda_pipeline.h>

#include "common/metric.cuh"

namespace kith::cuda {

using spi::tile_rows;  // number of queries, and of training rows
inline constexpr std::uint32_t tile_blocks = tile_rows / rows_a_block;
inline constexpr std::uint32_t tile_threads = 256;
inline constexpr std::uint32_t depth = 8;
inline constexpr std::uint32_t stages = 4;

using Piece = float[depth][tile_rows];

struct TileMemory {
  alignas(16) Piece queries[stages];
  alignas(16) Piece train[stages];
};

/// Returns the place in the tile of the first of a thread's two runs of four queries. A warp has 4 x
/// 8 threads.
__device__ inline std::uint32_t query_place() {
  return (threadIdx.x / 64 * 4 + threadIdx.x % 32 / 8) * 4;
}

/// Returns the same for training rows.
__device__ inline std::uint32_t row_place() {
  return (threadIdx.x / 32 % 2 * 8 + threadIdx.x % 8) * 4;
}

/// Returns the place of item i of a thread's eight.
__device__ inline std::uint32_t place(std::uint32_t first, int i) {
  return first + (i & 4) * 16 + (i & 3);
}

/// Returns where this thread copies from: dimension threadIdx.x / 32 of 4 rows of the tile that begins at
/// block `block0`. For blocks behind the last, the last one is read, and not used.
__device__ inline const float* copy_source(const Rows& rows, std::uint32_t block0) {
  const std::uint32_t last = (rows.first + rows.rows - 1) / rows_a_block;
  const std::uint32_t block = min(block0 + threadIdx.x % 32 / 8, last);
  return rows.data + (static_cast<std::size_t>(block) * rows.dims + threadIdx.x / 32) * rows_a_block +
         threadIdx.x % 8 * 4;
}

__device__ __forceinline__ void copy_piece(Piece& to, const float* from) {
  __pipeline_memcpy_async(&to[threadIdx.x / 32][threadIdx.x % 32 * 4], from, 16);
}

template <Metric metric>
__device__ __forceinline__ void accumulate_dimension(float (&acc)[8][8], const float* queries,
                                                     const float* train) {
  float a[8], b[8];
  *reinterpret_cast<float4*>(a) = *reinterpret_cast<const float4*>(queries);
  *reinterpret_cast<float4*>(a + 4) = *reinterpret_cast<const float4*>(queries + 64);
  *reinterpret_cast<float4*>(b) = *reinterpret_cast<const float4*>(train);
  *reinterpret_cast<float4*>(b + 4) = *reinterpret_cast<const float4*>(train + 64);
#pragma unroll
  for (int i = 0; i < 8; ++i)
#pragma unroll
    for (int j = 0; j < 8; ++j) acc[i][j] = Chain<metric>::next(acc[i][j], a[i], b[j]);
}

/// Computes the distances of the queries of one tile from several tiles of training rows, one after another.
///   query_block   block of the first query
///   block_of(i)   returns the block of the first training row of tile i
///   done(i, acc)  takes the finished chains of tile i; all threads call it, and each has passed a barrier
///                 since its call of done(i - 1, ...)
template <Metric metric, class BlockOf, class Done>
__device__ __forceinline__ void scan_tiles(TileMemory& memory, const Rows& queries, std::uint32_t query_block,
                                           const Rows& train, std::uint32_t tiles, BlockOf block_of,
                                           Done done) {
  const std::uint32_t dims = queries.dims, pieces = divide_up(dims, depth);
  const std::uint32_t my_dimension = threadIdx.x / 32;
  const float* const query_source = copy_source(queries, query_block);
  const float* train_source = tiles > 0 ? copy_source(train, block_of(0)) : nullptr;
  std::uint32_t copied_tile = 0, copied = 0;  // `copied` is the next piece to copy

  const auto copy_next = [&](std::uint32_t stage) {
    if (copied_tile < tiles) {
      if (copied * depth + my_dimension < dims) {
        const std::size_t offset = static_cast<std::size_t>(copied) * depth * rows_a_block;
        copy_piece(memory.queries[stage], query_source + offset);
        copy_piece(memory.train[stage], train_source + offset);
      }
      if (++copied == pieces) {
        copied = 0;
        if (++copied_tile < tiles) train_source = copy_source(train, block_of(copied_tile));
      }
    }
    __pipeline_commit();
  };

  for (std::uint32_t stage = 0; stage + 1 < stages; ++stage) copy_next(stage);
  const std::uint32_t q = query_place(), r = row_place();
  std::uint32_t stage = 0;
  for (std::uint32_t i = 0; i < tiles; ++i) {
    float acc[8][8];
#pragma unroll
    for (int e = 0; e < 64; ++e) acc[e / 8][e % 8] = Chain<metric>::start();
    for (std::uint32_t d0 = 0; d0 < dims; d0 += depth) {
      __pipeline_wait_prior(stages - 2);
      __syncthreads();
      copy_next((stage + stages - 1) % stages);  // its former piece was accumulated before the barrier
      const float* a = &memory.queries[stage][0][q];
      const float* b = &memory.train[stage][0][r];
      if (dims - d0 >= depth) {
#pragma unroll
        for (std::uint32_t d = 0; d < depth; ++d)
          accumulate_dimension<metric>(acc, a + d * tile_rows, b + d * tile_rows);
      } else {
#pragma unroll 1
        for (std::uint32_t d = 0; d < dims - d0; ++d)
          accumulate_dimension<metric>(acc, a + d * tile_rows, b + d * tile_rows);
      }
      stage = (stage + 1) % stages;
    }
    done(i, acc);
  }
}

}  // namespace kith::cuda
