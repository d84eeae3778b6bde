// pack_boxes: copies rows into the places of an order, and computes the boxes around them (docs/boxes.md,
// section 2).
//
//   rows     [rows, dims]             in parts, blocks of 32 rows
//   numbers  [p]                      the training row in each place, numbered through all parts
//   packed   [leaves, dims, 32]       the last leaf is padded with its last row
//   inside   [leaves, dims, 32], or blocks of 32 boxes of the level below, [2, dims, 32]
//   bounds   [blocks, 2, dims, 32]    of one level: the minima of 32 boxes in each dimension, then the maxima
//
// pack_rows: one thread handles one place. Rows of other parts are skipped; they are copied with those.
// halve_parts: one block takes the rows of 1,024 places, sorts them by one column, then each half by another,
// and so on until halves are leaves, and writes rows and numbers back in this order. Shared memory: 1,024
// keys and 272 numbers. Work: 512 comparisons in each of 185 steps of its sorts; one column of each row is
// read at each of five levels; then each row is read once and written once.
// bound_boxes: one thread handles one dimension of one box. It reads what is inside, 32 contiguous numbers at
// a time, twice if these are bounds. Work: each row is read twice and written once.
// Source: Friedman, Bentley, Finkel, An algorithm for finding best matches in logarithmic expected time,
// 1977.
#include "boxes/levels.cuh"
#include "common/rows.cuh"
#include "common/sort.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t pack_threads = 256;

struct Packing {
  Rows rows;
  std::uint32_t first_number;
  const std::uint32_t* numbers;
  std::uint32_t places;
  std::uint64_t padded;  ///< `places`, rounded up to whole leaves
  float* packed;
};

__global__ __launch_bounds__(pack_threads) void pack_rows(const Packing packing) {
  const std::uint64_t place = std::uint64_t{blockIdx.x} * pack_threads + threadIdx.x;
  if (place >= packing.padded) return;
  const std::uint32_t last = packing.places - 1;
  const std::uint32_t number = packing.numbers[place < last ? place : last];
  if (number < packing.first_number || number - packing.first_number >= packing.rows.rows) return;
  const std::uint32_t dims = packing.rows.dims;
  const float* const row = row_at(packing.rows, packing.rows.first + (number - packing.first_number));
  float* const to = packing.packed + place / width * dims * width + place % width;
  for (std::uint32_t d = 0; d < dims; ++d)
    to[std::size_t{d} * width] = __ldg(row + std::size_t{d} * rows_a_block);
}

struct Halving {
  float* packed;
  std::uint32_t* numbers;
  std::uint32_t places, dims;
};

/// Returns where a column of the row at a place is stored.
__device__ __forceinline__ std::size_t at_place(std::uint32_t place, std::uint32_t column,
                                                std::uint32_t dims) {
  return (std::size_t{place / width} * dims + column) * width + place % width;
}

/// Returns the extent of some rows in a column: maximum less minimum of a sample of `width` of `count` rows.
///   keys  of these rows; their lower half is the place that the row came from
__device__ __forceinline__ float reach_of(const Key* keys, std::uint32_t count, const float* rows,
                                          std::uint32_t column, std::uint32_t dims) {
  float least = __int_as_float(0x7F800000), largest = -least;
#pragma unroll 8
  for (std::uint32_t j = 0; j < width; ++j) {
    const float value = rows[at_place(static_cast<std::uint32_t>(keys[j * count / width]), column, dims)];
    least = fminf(least, value);
    largest = fmaxf(largest, value);
  }
  return largest - least;
}

/// Returns the column with the largest extent, the first of equal ones.
__device__ __forceinline__ std::uint32_t widest_of(const float* reaches, std::uint32_t columns) {
  std::uint32_t widest = 0;
  for (std::uint32_t d = 1; d < columns; ++d)
    if (reaches[d] > reaches[widest]) widest = d;
  return widest;
}

__global__ __launch_bounds__(pack_threads) void halve_parts(const Halving halving) {
  constexpr std::uint32_t part = spi::part_rows, each = part / pack_threads;
  __shared__ Key keys[part];
  __shared__ float reaches[pack_threads];  // [halves, columns]
  __shared__ std::uint32_t widest[pack_threads / spi::most_curve_columns];
  static_assert(part / (2 * width) * spi::most_curve_columns <= pack_threads);
  const std::uint32_t me = threadIdx.x, begin = blockIdx.x * part, dims = halving.dims;
  const std::uint32_t count = min(part, halving.places - begin), columns = min(dims, spi::most_curve_columns);
  float* const packed = halving.packed + std::size_t{begin} * dims;
  std::uint32_t* const numbers = halving.numbers + begin;
  for (std::uint32_t i = me; i < part; i += pack_threads) keys[i] = i < count ? key_of(0.0f, i) : no_key;
  __syncthreads();
  for (std::uint32_t size = part; size > width; size /= 2) {
    const std::uint32_t first = me / columns * size;  // first place of the part that this thread examines
    if (first < count)
      reaches[me] = reach_of(keys + first, min(size, count - first), packed, me % columns, dims);
    __syncthreads();
    if (me * size < count) widest[me] = widest_of(reaches + me * columns, columns);
    __syncthreads();
    for (std::uint32_t i = me; i < count; i += pack_threads) {
      const auto place = static_cast<std::uint32_t>(keys[i]);
      keys[i] = key_of(packed[at_place(place, widest[i / size], dims)], place);
    }
    sort_lists(keys, part / size, size, size);
  }
  const std::uint32_t padded = divide_up(count, width) * width;
  std::uint32_t came[each], number[each];
  float value[each];
  for (std::uint32_t j = 0; j < each; ++j)
    came[j] = static_cast<std::uint32_t>(keys[min(me + j * pack_threads, count - 1)]);
  for (std::uint32_t d = 0; d < dims; ++d) {
    for (std::uint32_t j = 0; j < each; ++j) value[j] = packed[at_place(came[j], d, dims)];
    __syncthreads();  // a column is read before it is written
    for (std::uint32_t j = 0; j < each; ++j)
      if (me + j * pack_threads < padded) packed[at_place(me + j * pack_threads, d, dims)] = value[j];
  }
  for (std::uint32_t j = 0; j < each; ++j) number[j] = numbers[came[j]];
  __syncthreads();
  for (std::uint32_t j = 0; j < each; ++j)
    if (me + j * pack_threads < count) numbers[me + j * pack_threads] = number[j];
}

struct Bounding {
  const float* inside;
  std::size_t inside_block;  ///< elements
  std::size_t largest;       ///< distance from the minima of what is inside to the maxima
  std::uint32_t below;       ///< number of rows or boxes inside all boxes together
  std::uint32_t boxes, dims;
  float* bounds;
  std::size_t bounds_block;
};

__global__ __launch_bounds__(pack_threads) void bound_boxes(const Bounding bounding) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * pack_threads + threadIdx.x;
  if (i >= std::uint64_t{bounding.boxes} * bounding.dims) return;
  const auto box = static_cast<std::uint32_t>(i % bounding.boxes),
             d = static_cast<std::uint32_t>(i / bounding.boxes);
  const std::uint32_t left = bounding.below - box * width, count = left < width ? left : width;
  const float* const least = bounding.inside + box * bounding.inside_block + std::size_t{d} * width;
  const float* const largest = least + bounding.largest;
  float lo = least[0], hi = largest[0];
  for (std::uint32_t j = 1; j < count; ++j) {
    lo = least[j] < lo ? least[j] : lo;
    hi = hi < largest[j] ? largest[j] : hi;
  }
  float* const to =
      bounding.bounds + box / width * bounding.bounds_block + std::size_t{d} * width + box % width;
  to[0] = lo;
  to[std::size_t{bounding.dims} * width] = hi;
}

cudaError_t bound_all(const Queue& queue, const spi::PackBoxesStep& step, std::uint32_t dims) {
  const std::uint32_t p = count_of(step.numbers.cols);
  const std::size_t line = std::size_t{dims} * width;
  const Matrix<float> bounds = matrix_of(step.bounds);
  Bounding bounding{matrix_of(step.packed).data, line, 0, p, 0, dims, nullptr, bounds.stride};
  for (std::uint32_t level = 0; level < spi::box_levels(p); ++level) {
    bounding.boxes = spi::boxes_of_level(p, level);
    bounding.bounds = bounds.data + spi::blocks_before_level(p, level) * bounds.stride;
    const cudaError_t error = launch(
        queue, bound_boxes, divide_up<std::uint64_t>(std::uint64_t{bounding.boxes} * dims, pack_threads),
        pack_threads, 0, bounding);
    if (error != cudaSuccess) return error;
    bounding = {bounding.bounds, bounds.stride, line, bounding.boxes, 0, dims, nullptr, bounds.stride};
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t pack_boxes(const Queue& queue, const spi::PackBoxesStep& step) {
  const std::uint32_t p = count_of(step.numbers.cols);
  if (p == 0) return cudaSuccess;
  const std::uint64_t padded = std::uint64_t{spi::boxes_of_level(p, 0)} * width;
  std::uint32_t first = 0;
  for (const spi::RowBlocks& part : step.rows) {
    const cudaError_t error = launch(
        queue, pack_rows, divide_up<std::uint64_t>(padded, pack_threads), pack_threads, 0,
        Packing{rows_of(part), first, matrix_of(step.numbers).data, p, padded, matrix_of(step.packed).data});
    if (error != cudaSuccess) return error;
    first += part.rows;
  }
  if (step.bounds.cols == 0) return cudaSuccess;
  const std::uint32_t dims = step.rows.front().dims;
  const cudaError_t error =
      launch(queue, halve_parts, divide_up(p, spi::part_rows), pack_threads, 0,
             Halving{matrix_of(step.packed).data, matrix_of(step.numbers).data, p, dims});
  return error == cudaSuccess ? bound_all(queue, step, dims) : error;
}

}  // namespace kith::cuda
