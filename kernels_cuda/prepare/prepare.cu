// prepare: computes each quantized row and its row terms, which are the numbers that bounds need.
//
//   rows       [n, dims]   blocks of 32 rows
//   centre     [1, dims]
//   quantized  [n, dims]   row-major: x~ = fl(x - c)
//   row_terms  [4, n]      half_norm, norm, quantized_norm, residual, each rounded to the safe side
//
// A team of 1, 2, 4 or 8 warps handles a block of 32 rows; each warp takes 32 dimensions at a time. It reads
// them with one lane per row, transposes them in shared memory, and writes them with one lane per dimension,
// so that it reads and writes whole lines. Each lane adds the squares of one row in double; at the end the
// sums of the team are added.
// Work: n * dims elements are read once and written once. Shared memory: 39 KiB. One barrier. Source:
// docs/certificate.md, section 2; the error of a subtraction: Moeller 1965, Knuth 1969 (TwoSum).
#include "prepare/prepare_quantized.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t team_warps = 8, team_threads = team_warps * 32;
constexpr std::uint32_t tile_dims = 32;
static_assert(rows_a_block == 32);

/// Returns fl(x - c), and adds its squares to `sums`. The error of the subtraction is a float, and squares of
/// floats are exact in double; x - c is rounded once, to double.
__device__ __forceinline__ float move(float x, float c, Squares& sums) {
  const float quantized = x - c;
  const float c_part = x - quantized, x_part = quantized + c_part;
  const float error = (x - x_part) + (c_part - c);
  const double moved = static_cast<double>(x) - static_cast<double>(c);
  sums.moved += moved * moved;
  sums.quantized += static_cast<double>(quantized) * static_cast<double>(quantized);
  sums.residual += static_cast<double>(error) * static_cast<double>(error);
  return quantized;
}

__device__ void write_row_terms(const Matrix<float>& row_terms, std::uint32_t r, const Squares& sums,
                                std::uint32_t dims) {
  const double margin = (static_cast<double>(dims) + 8.0) * 0x1p-53;
  float* const at = row_terms.data + r;
  at[spi::half_norm * row_terms.stride] = __double2float_rd(0.5 * (sums.moved * (1.0 - margin)));
  at[spi::norm * row_terms.stride] = root_above(sums.moved, margin);
  at[spi::quantized_norm * row_terms.stride] = root_above(sums.quantized, margin);
  at[spi::residual * row_terms.stride] = root_above(sums.residual, margin);
}

template <std::uint32_t team>
__global__ __launch_bounds__(team_threads) void prepare_rows(const Preparation preparation,
                                                             const std::uint32_t blocks) {
  __shared__ float tiles[team_warps][tile_dims][rows_a_block + 1];
  __shared__ Squares sums_of[team_warps][rows_a_block];
  const Rows& rows = preparation.rows;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32, member = warp % team;
  const std::uint32_t block =
      // block of rows
      rows.first / rows_a_block + blockIdx.x * (team_warps / team) + warp / team;
  const bool some = block - rows.first / rows_a_block < blocks;
  const float* const from = rows.data + static_cast<std::size_t>(block) * rows.dims * rows_a_block + lane;
  const auto is_row = [&](std::uint32_t r) { return r >= rows.first && r < rows.first + rows.rows; };
  auto& tile = tiles[warp];

  const bool mine = is_row(block * rows_a_block + lane);
  Squares sums{};
  for (std::uint32_t d0 = member * tile_dims; some && d0 < rows.dims; d0 += team * tile_dims) {
    const std::uint32_t count = min(tile_dims, rows.dims - d0);
#pragma unroll 8
    for (std::uint32_t i = 0; i < count; ++i)
      tile[i][lane] = move(mine ? __ldcs(from + static_cast<std::size_t>(d0 + i) * rows_a_block) : 0.0f,
                           __ldg(preparation.centre + d0 + i), sums);
    __syncwarp();
    for (std::uint32_t i = 0; i < rows_a_block; ++i) {
      const std::uint32_t r = block * rows_a_block + i;
      if (is_row(r) && lane < count)
        preparation.quantized.data[(r - rows.first) * preparation.quantized.stride + d0 + lane] =
            tile[lane][i];
    }
    __syncwarp();
  }

  sums_of[warp][lane] = sums;
  __syncthreads();
  const std::uint32_t r = block * rows_a_block + lane;
  if (member != 0 || !some || !mine) return;
  for (std::uint32_t other = 1; other < team; ++other) sums.add(sums_of[warp + other][lane]);
  write_row_terms(preparation.row_terms, r - rows.first, sums, rows.dims);
}

}  // namespace

cudaError_t prepare(const Queue& queue, const spi::PrepareStep& step) {
  const Preparation preparation = preparation_of(step);
  const Rows& rows = preparation.rows;
  const std::uint32_t blocks = (rows.first + rows.rows - 1) / rows_a_block + 1 - rows.first / rows_a_block;
  const auto with_team = [&](auto kernel, std::uint32_t team) {
    return launch(queue, kernel, divide_up<std::uint64_t>(blocks, team_warps / team), team_threads, 0,
                  preparation, blocks);
  };
  if (rows.dims <= tile_dims) return with_team(prepare_rows<1>, 1);
  if (rows.dims <= 2 * tile_dims) return with_team(prepare_rows<2>, 2);
  if (rows.dims <= 4 * tile_dims) return with_team(prepare_rows<4>, 4);
  return with_team(prepare_rows<team_warps>, team_warps);
}

}  // namespace kith::cuda
