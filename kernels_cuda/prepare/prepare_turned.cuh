// prepare for the scaled formats of quantized rows: reads rows once, and writes the quantized rows, their row
// terms and, if asked for, a copy in which rows are contiguous.
//
//   rows       [n, dims]   blocks of 32 rows
//   centre     [1, dims]
//   quantized  [n, dims]   in the order of HalfShape; Form defines what is written for a number
//   row_terms  [4, n]      half_norm, norm, quantized_norm, residual, each rounded to the safe side
//   copy       [n, dims]   row-major
//
// A team of 1, 2, 4 or 8 warps handles 32 rows; each warp takes 16 dimensions at a time. It reads them with
// one lane per row, and transposes them in shared memory; then each lane has four neighbouring dimensions, of
// 8 rows at once. Whole lines are read, and whole sectors written. Sums of squares are double. Shared memory:
// 22 KiB. One barrier. Source: docs/certificate.md, section 2.
// No twin in kernels_cl: prepare_quantized.cl has this.
#pragma once

#include "prepare/prepare_quantized.cuh"

namespace kith::cuda {

namespace turned {

inline constexpr std::uint32_t warps = 8, threads = warps * 32, step_dims = 16, quads = step_dims / 4;
inline constexpr std::uint32_t all_lanes = 0xFFFFFFFFu;
static_assert(rows_a_block == 32);

/// Four neighbouring dimensions of each of 32 rows. 8 lanes never conflict in a bank, neither when each lane
/// reads its own row nor when four lanes read one.
using Tile = float4[rows_a_block][quads];
__device__ __forceinline__ float4& quad_of(Tile& tile, std::uint32_t row, std::uint32_t quad) {
  return tile[row][quad ^ row / 2 % quads];
}

/// Returns elements d, d + 1, ... of a row of `dims`, with zeros behind the last.
__device__ __forceinline__ float4 four_of(const float* row, std::uint32_t d, std::uint32_t dims) {
  return {d < dims ? __ldg(row + d) : 0.0f, d + 1 < dims ? __ldg(row + d + 1) : 0.0f,
          d + 2 < dims ? __ldg(row + d + 2) : 0.0f, d + 3 < dims ? __ldg(row + d + 3) : 0.0f};
}

/// Writes elements d, d + 1, ... of a row of `dims`. `whole`: dims is a multiple of 4, and the row
/// is aligned.
template <bool whole>
__device__ __forceinline__ void put_four(float* row, std::uint32_t d, std::uint32_t dims, const float4& x) {
  if constexpr (whole) {
    if (d < dims) *reinterpret_cast<float4*>(row + d) = x;
    return;
  }
  if (d < dims) row[d] = x.x;
  if (d + 1 < dims) row[d + 1] = x.y;
  if (d + 2 < dims) row[d + 2] = x.z;
  if (d + 3 < dims) row[d + 3] = x.w;
}

__device__ __forceinline__ Squares from_lane(const Squares& sums, std::uint32_t distance) {
  return {__shfl_xor_sync(all_lanes, sums.moved, distance),
          __shfl_xor_sync(all_lanes, sums.quantized, distance),
          __shfl_xor_sync(all_lanes, sums.residual, distance)};
}

__device__ __forceinline__ Squares choose(bool first, const Squares& a, const Squares& b) {
  return {first ? a.moved : b.moved, first ? a.quantized : b.quantized, first ? a.residual : b.residual};
}

/// Each of four lanes has sums of rows 0 ... 3. Lane l % 4 gets the total for row l % 4.
__device__ __forceinline__ Squares share_sums(const Squares (&sums)[4], std::uint32_t lane) {
  const bool even = lane % 2 == 0, lower = lane / 2 % 2 == 0;
  Squares low = choose(even, sums[0], sums[1]), high = choose(even, sums[2], sums[3]);
  low.add(from_lane(choose(even, sums[1], sums[0]), 1));
  high.add(from_lane(choose(even, sums[3], sums[2]), 1));
  Squares own = choose(lower, low, high);
  own.add(from_lane(choose(lower, high, low), 2));
  return own;
}

/// Team b handles quantized rows from 32 b on; rows and dimensions behind the last are zeros.
template <class Form, int team, bool whole>
__global__ __launch_bounds__(threads, 3) void prepare_turned(const Preparation preparation, const Form form,
                                                             const HalfShape shape,
                                                             const std::uint32_t row_blocks) {
  __shared__ Tile tiles[warps];
  __shared__ Squares sums_of[warps][32];
  const Rows& rows = preparation.rows;
  const std::uint32_t warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const std::uint32_t block = blockIdx.x * (warps / team) + warp / team, i0 = block * rows_a_block;
  const bool mine = block < row_blocks && i0 + lane < rows.rows;
  const float* const from = row_of(rows, rows.first + i0 + lane);
  const Matrix<float>& copy = preparation.copy;
  Tile& tile = tiles[warp];

  Squares sums[4] = {};  // sums[j] belongs to row 8 j + lane / 4
  const std::uint32_t steps = block < row_blocks ? shape.slabs * shape.pieces * Form::piece / step_dims : 0;
  for (std::uint32_t step = warp % team; step < steps; step += team) {
    const std::uint32_t d0 = step * step_dims, d = d0 + lane % quads * 4;
    float x[step_dims];
#pragma unroll
    for (std::uint32_t e = 0; e < step_dims; ++e)
      x[e] =
          mine && d0 + e < rows.dims ? __ldcs(from + static_cast<std::size_t>(d0 + e) * rows_a_block) : 0.0f;
    const float4 centre = four_of(preparation.centre, d, rows.dims);
#pragma unroll
    for (std::uint32_t q = 0; q < quads; ++q)
      quad_of(tile, lane, q) = {x[4 * q], x[4 * q + 1], x[4 * q + 2], x[4 * q + 3]};
    __syncwarp();
#pragma unroll
    for (std::uint32_t j = 0; j < 4; ++j) {
      const std::uint32_t row = 8 * j + lane / quads, i = i0 + row;
      const float4 four = quad_of(tile, row, lane % quads);
      const bool inside = i < rows.rows;
      if (inside && copy.data != nullptr) put_four<whole>(copy.data + i * copy.stride, d, rows.dims, four);
      form.put(preparation.quantized.data, shape, i, d, four, inside ? centre : float4{}, sums[j]);
    }
    __syncwarp();
  }

  Squares own = share_sums(sums, lane);
  const std::uint32_t i = i0 + 8 * (lane % 4) + lane / 4;
  if constexpr (team > 1) {
    sums_of[warp][lane] = own;
    __syncthreads();
  }
  if (warp % team != 0 || block >= row_blocks || i >= rows.rows) return;
  for (std::uint32_t other = 1; other < team; ++other) own.add(sums_of[warp + other][lane]);
  write_row_terms(preparation, i, own, Form::inexact, form.is_exact());
}

template <class Form, int team>
cudaError_t launch_team(const Queue& queue, const Preparation& preparation, const Form& form,
                        const HalfShape& shape) {
  const std::uint32_t blocks =
      divide_up(preparation.rows.rows, tile_of_halves) * (tile_of_halves / rows_a_block);
  const Matrix<float>& copy = preparation.copy;
  const bool whole = preparation.rows.dims % 4 == 0 && copy.stride % 4 == 0 &&
                     reinterpret_cast<std::uintptr_t>(copy.data) % sizeof(float4) == 0;
  auto* const kernel = whole ? prepare_turned<Form, team, true> : prepare_turned<Form, team, false>;
  return launch(queue, kernel, divide_up(blocks, std::uint32_t{warps / team}), threads, 0, preparation, form,
                shape, blocks);
}

}  // namespace turned

/// Launches the kernel with a Form, which has: piece, the number of dimensions of a piece; inexact and
/// is_exact(), which write_row_terms() explains; and
///   put(quantized, shape, row, d, x, c, sums)   writes dimensions d ... d + 3 and adds their squares
///                                               to `sums`
template <class Form>
cudaError_t launch_turned(const Queue& queue, const Preparation& preparation, const Form& form,
                          const HalfShape& shape) {
  const std::uint32_t steps = shape.slabs * shape.pieces * Form::piece / turned::step_dims;
  if (steps <= 1) return turned::launch_team<Form, 1>(queue, preparation, form, shape);
  if (steps <= 2) return turned::launch_team<Form, 2>(queue, preparation, form, shape);
  if (steps <= 4) return turned::launch_team<Form, 4>(queue, preparation, form, shape);
  return turned::launch_team<Form, turned::warps>(queue, preparation, form, shape);
}

}  // namespace kith::cuda
