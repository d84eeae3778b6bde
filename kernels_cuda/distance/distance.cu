// distance: computes one chain for each pair of a query and a training row.
//
//   queries [q, dims]   train [t, dims]   blocks of 32 rows
//   out     [q, t]      row-major, stride in elements; raw values
//
// There are two kernels: one for tiles of 128 queries with 128 rows (tile.cuh), and one for few queries
// (rows.cuh). The first and last blocks may contain pairs that are not asked for; these are computed, but
// not written.
// Work: q * t * dims multiply-adds, two instructions each; q * t floats are written.
#include "common/rows.cuh"
#include "common/tile.cuh"

namespace kith::cuda {
namespace {

/// Writes four neighbouring values; row r of train belongs at out[r - train.first].
__device__ __forceinline__ void store_four(float* out, const Rows& train, std::uint32_t r, float4 values) {
  const std::uint32_t end = train.first + train.rows;
  float* at = out + (static_cast<std::int64_t>(r) - train.first);
  if (r >= train.first && r + 4 <= end && reinterpret_cast<std::uintptr_t>(at) % 16 == 0) {
    *reinterpret_cast<float4*>(at) = values;
    return;
  }
  const float value[4] = {values.x, values.y, values.z, values.w};
#pragma unroll
  for (std::uint32_t j = 0; j < 4; ++j)
    if (r + j >= train.first && r + j < end) at[j] = value[j];
}

/// Block b computes the distances of query tile b % query_tiles from the training tiles of run b /
/// query_tiles, so that blocks that run at the same time share training rows in the cache.
template <Metric metric>
__global__ __launch_bounds__(tile_threads, 2) void distance_tiles(const Rows queries, const Rows train,
                                                                  const std::uint32_t query_tiles,
                                                                  const std::uint32_t run,
                                                                  const Matrix<float> out) {
  __shared__ TileMemory memory;
  const std::uint32_t query_block = queries.first / rows_a_block + blockIdx.x % query_tiles * tile_blocks;
  const std::uint32_t first_block = train.first / rows_a_block;
  const std::uint32_t blocks = (train.first + train.rows - 1) / rows_a_block + 1 - first_block;
  const std::uint32_t begin = blockIdx.x / query_tiles * run;
  const std::uint32_t tiles = min(divide_up(blocks, tile_blocks) - begin, run);
  const auto block_of = [&](std::uint32_t i) { return first_block + (begin + i) * tile_blocks; };

  scan_tiles<metric>(
      memory, queries, query_block, train, tiles, block_of, [&](std::uint32_t i, float(&acc)[8][8]) {
        const std::uint32_t r = block_of(i) * rows_a_block + row_place();
#pragma unroll
        for (int e = 0; e < 8; ++e) {
          const std::uint32_t q = query_block * rows_a_block + place(query_place(), e);
          if (q < queries.first || q >= queries.first + queries.rows) continue;
          float* row = out.data + (q - queries.first) * out.stride;
          store_four(row, train, r, make_float4(acc[e][0], acc[e][1], acc[e][2], acc[e][3]));
          store_four(row, train, r + 64, make_float4(acc[e][4], acc[e][5], acc[e][6], acc[e][7]));
        }
      });
}

/// Block b computes the distances of query batch b % batches from 1024 rows; each thread takes 4 rows.
template <Metric metric, int batch>
__global__ __launch_bounds__(row_threads, batch >= 16 ? 2 : 4) void distance_rows(const Rows queries,
                                                                                  const Rows train,
                                                                                  const std::uint32_t batches,
                                                                                  const Matrix<float> out) {
  const std::uint32_t query = (queries.first / batch + blockIdx.x % batches) * batch;
  const std::uint32_t block0 = train.first / rows_a_block + blockIdx.x / batches * (row_step / rows_a_block) +
                               threadIdx.x / 32 * (warp_rows / rows_a_block);
  const std::uint32_t r = first_of_four(block0);
  if (r >= train.first + train.rows) return;
  float acc[batch][4];
  row_chains<metric>(acc, row_at(queries, query), row_at(train, r), queries.dims);
#pragma unroll
  for (int e = 0; e < batch; ++e) {
    const std::uint32_t q = query + e;
    if (q < queries.first || q >= queries.first + queries.rows) continue;
    store_four(out.data + (q - queries.first) * out.stride, train, r,
               make_float4(acc[e][0], acc[e][1], acc[e][2], acc[e][3]));
  }
}

/// Returns the number of blocks that contain some of these rows.
std::uint32_t blocks_of(const Rows& rows) {
  return (rows.first + rows.rows - 1) / rows_a_block + 1 - rows.first / rows_a_block;
}

}  // namespace

cudaError_t distance_of_small_batch(const Queue& queue, const spi::DistanceStep& step) {
  const Rows queries = rows_of(step.queries), train = rows_of(step.train);
  return with_chain(step.metric, [&](auto chain) {
    constexpr Metric chosen = decltype(chain)::value;
    return with_query_batch(queries.rows, [&](auto size) {
      constexpr int batch = decltype(size)::value;
      const std::uint32_t batches = batches_of(queries, batch);
      const std::uint64_t steps = divide_up(blocks_of(train), row_step / rows_a_block);
      return launch(queue, distance_rows<chosen, batch>, batches * steps, row_threads, 0, queries, train,
                    batches, matrix_of(step.out));
    });
  });
}

cudaError_t distance_of_many(const Queue& queue, const spi::DistanceStep& step) {
  const Rows queries = rows_of(step.queries), train = rows_of(step.train);
  const std::uint32_t query_tiles = divide_up(queries.first % rows_a_block + queries.rows, tile_rows);
  const std::uint32_t train_tiles = divide_up(blocks_of(train), tile_blocks);
  // A block takes several tiles, so that copies cross their borders, if there are enough blocks.
  const std::uint64_t enough = 16ull * queue.multiprocessors;
  const auto run = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(8, 1 + std::uint64_t{query_tiles} * train_tiles / enough));
  return with_chain(step.metric, [&](auto chain) {
    return launch(queue, distance_tiles<decltype(chain)::value>,
                  std::uint64_t{query_tiles} * divide_up(train_tiles, run), tile_threads, 0, queries, train,
                  query_tiles, run, matrix_of(step.out));
  });
}

}  // namespace kith::cuda
