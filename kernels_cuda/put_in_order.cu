// The rows themselves, one behind the other: for RerankStep, which reads single rows.
//
//   rows  [n, dims]   blocks of 32 rows
//   out   [n, dims]   row-major
//
// A block of 8 warps takes 32 rows by 32 dimensions at a time, turned over in shared memory.
// Work: n * dims floats, read and written once. Shared memory: 4.2 KiB. Barriers: two every 32 dimensions.
#include "common.cuh"
#include "rows_in_order.hpp"

namespace kith::cuda {
namespace {

constexpr std::uint32_t side = 32, warps = 8, threads = warps * 32;
static_assert(rows_a_block == side);

/// Block b takes rows 32 b ... of the output.
__global__ __launch_bounds__(threads) void turn_over(const Rows rows, const Matrix<float> out) {
  __shared__ float tile[side][side + 1];
  const std::uint32_t x = threadIdx.x % side, y = threadIdx.x / side, i0 = blockIdx.x * side;
  const std::uint32_t r = rows.first + i0 + x;
  const bool mine = i0 + x < rows.rows;
  const float* const from =
      rows.data + static_cast<std::size_t>(r / rows_a_block) * rows.dims * rows_a_block + r % rows_a_block;
  for (std::uint32_t d0 = 0; d0 < rows.dims; d0 += side) {
#pragma unroll
    for (std::uint32_t d = y; d < side; d += warps)
      if (mine && d0 + d < rows.dims)
        tile[d][x] = __ldcs(from + static_cast<std::size_t>(d0 + d) * rows_a_block);
    __syncthreads();
#pragma unroll
    for (std::uint32_t i = y; i < side; i += warps)
      if (i0 + i < rows.rows && d0 + x < rows.dims)
        out.data[static_cast<std::size_t>(i0 + i) * out.stride + d0 + x] = tile[x][i];
    __syncthreads();
  }
}

}  // namespace

cudaError_t put_in_order(const Queue& queue, const Rows& rows, const Matrix<float>& out) {
  return launch(queue, turn_over, divide_up(rows.rows, side), threads, 0, rows, out);
}

}  // namespace kith::cuda
