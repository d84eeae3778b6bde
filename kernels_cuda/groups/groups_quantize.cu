// groups, prepare: quantizes the rows of each group to 16-bit floats, around the middle of the group.
//
//   train [t, dims]   blocks of 32 rows
//   row_borders [groups + 1]
//   halves [t, columns], rows [t, dims], squares, residuals [t], centres [groups, columns], terms [groups]
//
// In the first kernel a warp takes a column of a group, for the mean and the reach of up to 128 rows, from
// which the scale follows. In the second a block takes 32 rows, and turns 32 columns of them at a time in
// shared memory. In the third a block takes a group: it counts residuals by their exponents, and calls few
// rows wild if all others are far below.
// Source: docs/certificate.md, sections 2 and 8.
// No twin in kernels_cl: OpenCL computes the chains of all rows of a group.
#include "groups/groups_products.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t quantize_threads = 256, quantize_warps = quantize_threads / 32;
constexpr std::uint32_t lanes = 0xFFFFFFFFu, sample_parts = 4;

/// Raises a float of at least 0.
__device__ __forceinline__ void raise(float* known, float value) {
  atomicMax(reinterpret_cast<int*>(known), __float_as_int(value));
}

/// Returns the largest of a warp's floats, which are at least 0.
__device__ __forceinline__ float most_of_warp(float value) {
  return __uint_as_float(most_of_lanes(__float_as_uint(value)));
}

/// A warp takes a column of a group: 32 neighbouring rows at each of some places.
__global__ __launch_bounds__(quantize_threads) void find_centres(const Groups step,
                                                                 const QuantizedGroups to) {
  const std::uint32_t slices = divide_up(to.columns, quantize_warps), group = blockIdx.x / slices;
  const std::uint32_t d = blockIdx.x % slices * quantize_warps + threadIdx.x / 32, lane = threadIdx.x % 32;
  const Range range(step, group);
  if (d >= to.columns) return;
  const std::uint32_t rows = range.end - range.begin, spread = max(rows / sample_parts, 32u);
  float sum = 0, least = INFINITY, most = -INFINITY, count = 0;
#pragma unroll
  for (std::uint32_t part = 0; part < sample_parts; ++part) {
    const std::uint32_t i = part * spread + lane;
    if (i >= rows || d >= step.train.dims) continue;
    const float x = __ldg(row_at(step.train, range.begin + i) + static_cast<std::size_t>(d) * rows_a_block);
    sum += x;
    count += 1;
    least = fminf(least, x);
    most = fmaxf(most, x);
  }
#pragma unroll
  for (std::uint32_t distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(lanes, sum, distance);
    count += __shfl_xor_sync(lanes, count, distance);
    least = fminf(least, __shfl_xor_sync(lanes, least, distance));
    most = fmaxf(most, __shfl_xor_sync(lanes, most, distance));
  }
  if (lane != 0) return;
  const float middle = count > 0 ? fminf(fmaxf(sum / count, least), most) : 0.0f;
  to.centres[static_cast<std::size_t>(group) * to.columns + d] = middle;
  if (count > 0) raise(&to.terms[group].reach, fmaxf(most - middle, middle - least));
}

/// The rows of a block, and 32 of their columns. Eight lanes take a row. They conflict in no bank.
using Tile = float[32][36];

/// Loads 32 columns of 32 rows, a lane for each row.
__device__ __forceinline__ void load_tile(Tile& tile, const Rows& train, std::uint32_t i0, std::uint32_t d0) {
  constexpr std::uint32_t each = 32 / quantize_warps;
  const std::uint32_t first = d0 + threadIdx.x / 32 * each, i = i0 + threadIdx.x % 32;
  const float* const from = row_at(train, train.first + i) + static_cast<std::size_t>(first) * rows_a_block;
  float4 x;
  float* const columns = &x.x;
#pragma unroll
  for (std::uint32_t e = 0; e < each; ++e)
    columns[e] = i < train.rows && first + e < train.dims ? __ldg(from + e * rows_a_block) : 0.0f;
  static_assert(each == 4);
  *reinterpret_cast<float4*>(&tile[threadIdx.x % 32][threadIdx.x / 32 * each]) = x;
}

/// A block takes 32 rows.
__global__ __launch_bounds__(quantize_threads) void quantize_rows(const Groups step,
                                                                  const QuantizedGroups to) {
  __shared__ Tile tile;
  const Rows& train = step.train;
  const std::uint32_t i0 = blockIdx.x * 32, i = i0 + threadIdx.x / 8, own = threadIdx.x % 8 * 4;
  const std::uint32_t number = step.first_row + i;
  const bool inside =
      i < train.rows && number >= __ldg(step.row_borders) && number < __ldg(step.row_borders + step.groups);
  const std::uint32_t group = inside ? group_at(step.row_borders, step.groups, number) : 0;
  const float* const centre = to.centres + static_cast<std::size_t>(group) * to.columns;
  const std::size_t float_columns = QuantizedGroups::float_columns(train.dims);
  take_turn();
  const float scale = to.terms[group].scale();
  HalfNorms norms;
  for (std::uint32_t d0 = 0; d0 < to.columns; d0 += piece_of_halves) {
    __syncthreads();
    load_tile(tile, train, i0, d0);
    __syncthreads();
    if (!inside) continue;
    const float4 x = *reinterpret_cast<const float4*>(&tile[threadIdx.x / 8][own]);
    const float4 c = __ldg(reinterpret_cast<const float4*>(centre + d0 + own));
    if (d0 + own < float_columns) *reinterpret_cast<float4*>(to.rows + i * float_columns + d0 + own) = x;
    __align__(8) __half four[4] = {norms.add((x.x - c.x) * scale), norms.add((x.y - c.y) * scale),
                                   norms.add((x.z - c.z) * scale), norms.add((x.w - c.w) * scale)};
    *reinterpret_cast<uint2*>(to.halves + static_cast<std::size_t>(i) * to.columns + d0 + own) =
        *reinterpret_cast<const uint2*>(four);
  }
#pragma unroll
  for (std::uint32_t distance = 1; distance < 8; distance *= 2) {
    norms.squares += __shfl_xor_sync(lanes, norms.squares, distance);
    norms.rest += __shfl_xor_sync(lanes, norms.rest, distance);
  }
  if (own != 0 || !inside) return;
  to.squares[i] = norms.squares;
  to.residuals[i] = residual_above(norms);
}

constexpr std::uint32_t no_exponent = 256;

/// Returns the exponent from which on at most one row in 64 has residuals, if the largest are four times as
/// large; else one that no row has.
///   counts  [256], of rows by the exponents of their residuals
__device__ __forceinline__ std::uint32_t wild_exponent(const std::uint32_t* counts, std::uint32_t rows) {
  std::uint32_t exponent = no_exponent, above = 0;
  while (exponent > 0 && counts[exponent - 1] == 0) --exponent;
  const std::uint32_t last = exponent;
  while (exponent > 0 && above + counts[exponent - 1] <= rows / 64) above += counts[--exponent];
  while (exponent < last && counts[exponent] == 0) ++exponent;
  std::uint32_t before = exponent;  // of the largest residual that is not wild
  while (before > 0 && counts[before - 1] == 0) --before;
  return exponent == last || last - before < 2 ? no_exponent : exponent;
}

__global__ __launch_bounds__(quantize_threads) void find_wild_rows(const Groups step,
                                                                   const QuantizedGroups to) {
  __shared__ std::uint32_t counts[quantize_threads], wild;
  __shared__ float sum, most;
  const Range range(step, blockIdx.x);
  const std::uint32_t first = range.begin - step.train.first, rows = range.end - range.begin;
  counts[threadIdx.x] = 0;
  if (threadIdx.x == 0) {
    sum = most = 0;
    wild = no_exponent;
  }
  take_turn();
  __syncthreads();
  float own_sum = 0, own_most = 0, norm = 0;
  for (std::uint32_t i = threadIdx.x; i < rows; i += quantize_threads) {
    own_sum += to.residuals[first + i];
    own_most = fmaxf(own_most, to.residuals[first + i]);
    norm = fmaxf(norm, aligned_norm(to.squares[first + i], to.columns));
  }
  own_most = most_of_warp(own_most);
  norm = most_of_warp(norm);
#pragma unroll
  for (std::uint32_t distance = 16; distance > 0; distance /= 2)
    own_sum += __shfl_xor_sync(lanes, own_sum, distance);
  if (threadIdx.x % 32 == 0) {
    atomicAdd(&sum, own_sum);
    raise(&most, own_most);
  }
  __syncthreads();
  float residual = own_most;
  std::uint32_t found = 0;
  if (most == INFINITY || most > 2 * sum / static_cast<float>(rows)) {
    const auto exponent_of = [&](std::uint32_t i) { return __float_as_uint(to.residuals[first + i]) >> 23; };
    for (std::uint32_t i = threadIdx.x; i < rows; i += quantize_threads)
      atomicAdd(counts + exponent_of(i), 1u);
    __syncthreads();
    if (threadIdx.x == 0) wild = wild_exponent(counts, rows);
    __syncthreads();
    norm = residual = 0;
    for (std::uint32_t i = threadIdx.x; i < rows; i += quantize_threads) {
      if (exponent_of(i) >= wild) {
        to.squares[first + i] = -INFINITY;
        ++found;
      } else {
        norm = fmaxf(norm, aligned_norm(to.squares[first + i], to.columns));
        residual = fmaxf(residual, to.residuals[first + i]);
      }
    }
  }
  GroupTerms& terms = to.terms[blockIdx.x];
  norm = most_of_warp(norm);
  residual = most_of_warp(residual);
  if (threadIdx.x % 32 == 0) {
    raise(&terms.norm, norm);
    raise(&terms.residual, residual);
  }
  if (found > 0) atomicAdd(&terms.wild, found);
}

}  // namespace

cudaError_t quantize_groups(const Queue& queue, const Groups& step, const QuantizedGroups& to) {
  cudaError_t error = cudaMemsetAsync(to.terms, 0, step.groups * sizeof(GroupTerms), queue.stream);
  if (error != cudaSuccess) return error;
  error = launch(queue, find_centres, std::uint64_t{step.groups} * divide_up(to.columns, quantize_warps),
                 quantize_threads, 0, step, to);
  if (error != cudaSuccess) return error;
  error =
      launch_in_turn(queue, quantize_rows, divide_up(step.train.rows, 32u), quantize_threads, 0, step, to);
  if (error != cudaSuccess) return error;
  return launch_in_turn(queue, find_wild_rows, step.groups, quantize_threads, 0, step, to);
}

}  // namespace kith::cuda
