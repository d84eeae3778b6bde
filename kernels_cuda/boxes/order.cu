// order: the place of each row along a Hilbert curve, as a number, and its number beside it; then these are
// sorted by radix_sort.cu.
//
//   rows     [n, dims]       in parts, blocks of 32 rows
//   frame    [columns + 1]   least of each column, then cells a unit
//   out      [n]             the row in each place, counted through all parts; equal ones ascend
//
// A thread a row. Work: the row's first columns, 16 at most, are read once; some 3 x bits x columns
// operations; and the sort, 8 bits a pass, of 12 bytes a row. Scratch: 20 bytes a row beside the sort's own.
// Source: Skilling, Programming the Hilbert curve, 2004.
#include "common/radix_sort.cuh"
#include "common/rows.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;

/// Where a value lies between 0 and `most`.
__device__ __forceinline__ std::uint32_t cell_of(float value, float least, float cells, std::uint32_t most) {
  const float at = (value - least) * cells;
  if (at >= static_cast<float>(most)) return most;
  return at > 0.0f ? static_cast<std::uint32_t>(at) : 0;  // 0 if it is no number
}

/// Turn a cell into its place, whose bits stand in turns, the highest of axis[0] first.
template <std::uint32_t columns, std::uint32_t bits>
__device__ __forceinline__ void to_curve(std::uint32_t (&axis)[columns]) {
#pragma unroll 1
  for (std::uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1) {
#pragma unroll
    for (std::uint32_t d = 0; d < columns; ++d) {
      if (axis[d] & bit) {
        axis[0] ^= bit - 1;
      } else {
        const std::uint32_t differ = (axis[0] ^ axis[d]) & (bit - 1);
        axis[0] ^= differ;
        axis[d] ^= differ;
      }
    }
  }
#pragma unroll
  for (std::uint32_t d = 1; d < columns; ++d) axis[d] ^= axis[d - 1];
  std::uint32_t turn = 0;
  for (std::uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1)
    if (axis[columns - 1] & bit) turn ^= bit - 1;
#pragma unroll
  for (std::uint32_t d = 0; d < columns; ++d) axis[d] ^= turn;
}

/// Rows first_number + 0, 1, ... of all, and where they write.
struct Placing {
  Rows rows;
  const float* frame;
  std::uint64_t* places;
  std::uint32_t* numbers;
  std::uint32_t first_number;
};

template <std::uint32_t columns, std::uint32_t bits>
__global__ __launch_bounds__(threads) void place_rows(const Placing placing) {
  const std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (i >= placing.rows.rows) return;
  const float* const row = row_at(placing.rows, placing.rows.first + static_cast<std::uint32_t>(i));
  const float cells = __ldg(placing.frame + columns);
  std::uint32_t axis[columns];
#pragma unroll
  for (std::uint32_t d = 0; d < columns; ++d)
    axis[d] = cell_of(__ldg(row + std::size_t{d} * rows_a_block), __ldg(placing.frame + d), cells,
                      (1u << bits) - 1);
  to_curve<columns, bits>(axis);
  std::uint64_t place = 0;
#pragma unroll 1
  for (std::uint32_t bit = bits; bit-- > 0;) {
#pragma unroll
    for (std::uint32_t d = 0; d < columns; ++d) place = place << 1 | (axis[d] >> bit & 1);
  }
  const std::uint64_t at = placing.first_number + i;
  placing.places[at] = place;
  placing.numbers[at] = static_cast<std::uint32_t>(at);
}

template <std::uint32_t columns = 1>
cudaError_t place_part(const Queue& queue, const Placing& placing, std::uint32_t wanted) {
  if constexpr (columns < spi::most_curve_columns) {
    if (wanted > columns) return place_part<columns + 1>(queue, placing, wanted);
  }
  return launch(queue, place_rows<columns, spi::curve_bits(columns)>, divide_up(placing.rows.rows, threads),
                threads, 0, placing);
}

/// Scratch of n rows: their places before and after the sort, their numbers, and the sort's own.
struct OrderMemory {
  std::uint64_t *places, *sorted;
  std::uint32_t* numbers;
  void* rest;
  std::size_t before_rest;

  OrderMemory(void* memory, std::size_t n) {
    constexpr std::size_t line = 256;
    const std::size_t of_places = divide_up(n * sizeof(std::uint64_t), line) * line;
    auto* const begin = static_cast<unsigned char*>(memory);
    before_rest = 2 * of_places + divide_up(n * sizeof(std::uint32_t), line) * line;
    places = reinterpret_cast<std::uint64_t*>(begin);
    sorted = reinterpret_cast<std::uint64_t*>(begin + of_places);
    numbers = reinterpret_cast<std::uint32_t*>(begin + 2 * of_places);
    rest = begin + before_rest;
  }
};

}  // namespace

std::size_t order_scratch(const spi::OrderStep& step) {
  const std::uint32_t n = count_of(step.out.cols);
  return OrderMemory(nullptr, n).before_rest + sort_pairs_bytes(n);
}

cudaError_t order(const Queue& queue, const spi::OrderStep& step) {
  const std::uint32_t n = count_of(step.out.cols);
  if (n == 0) return cudaSuccess;
  const std::uint32_t columns = spi::curve_columns(step.rows.front().dims),
                      all_bits = columns * spi::curve_bits(columns), bits = std::min(step.bits, all_bits);
  const OrderMemory memory(address_of<void>(step.scratch), n);
  std::uint32_t first = 0;
  for (const spi::RowBlocks& part : step.rows) {
    const Placing placing{rows_of(part), matrix_of(step.frame).data, memory.places, memory.numbers, first};
    const cudaError_t error = place_part(queue, placing, columns);
    if (error != cudaSuccess) return error;
    first += part.rows;
  }
  return sort_pairs(queue, {memory.places, memory.sorted, memory.numbers, matrix_of(step.out).data, n},
                    {static_cast<int>(all_bits - bits), static_cast<int>(all_bits)}, memory.rest,
                    step.scratch.bytes - memory.before_rest);
}

}  // namespace kith::cuda
