// order: computes for each row its place along a Hilbert curve, or its place in a cut of the parts of an
// order; then radix_sort.cu sorts the row numbers by these places (docs/boxes.md, section 2).
//
//   rows     [n, dims]       in parts, blocks of 32 rows
//   frame    [columns + 1]   minimum of each column, then the number of cells per unit
//   out      [n]             the row in each place, numbered through all parts; equal places keep the order
//            of rows
//
// One thread handles one row. Work for the curve: the first columns of the row, at most 16, are read once;
// about 3 x bits x columns operations. Work for a cut: one value of a row is read, at any place in memory.
// The sort handles 8 bits of 12 bytes per row in one pass: as many bits as the places have, or, once for each
// cut, 32 bits and those of a part's number. Scratch: 20 bytes per row beside what the sort needs.
// Sources: Skilling, Programming the Hilbert curve, 2004; Leutenegger, Lopez, Edgington, STR: a simple and
// efficient algorithm for R-tree packing, 1997.
#include "common/radix_sort.cuh"
#include "common/rows.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t threads = 256;

/// Returns the number of the cell, 0 to `most`, in which a value lies.
__device__ __forceinline__ std::uint32_t cell_of(float value, float least, float cells, std::uint32_t most) {
  const float at = (value - least) * cells;
  if (at >= static_cast<float>(most)) return most;
  return at > 0.0f ? static_cast<std::uint32_t>(at) : 0;  // 0 for NaN
}

/// Turns the coordinates of a cell into its place on the curve. The bits of the place alternate between the
/// axes, starting with the highest bit of axis[0].
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

/// Some rows, which are numbers first_number + 0, 1, ... of all rows, and where their places are written.
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

/// One cut of rows in their order so far.
struct Cutting {
  Rows rows;
  const std::uint32_t* order;  ///< the row in each place; null: the row with the same number
  std::uint64_t* places;
  std::uint32_t* numbers;
  std::uint32_t first_number, n, column;
  std::uint32_t part_bits;  ///< number of bits of a place within its part
};

/// Rows that are not among these are handled with their own part of the rows.
__global__ __launch_bounds__(threads) void place_in_cut(const Cutting cutting) {
  const std::uint64_t place = std::uint64_t{blockIdx.x} * threads + threadIdx.x;
  if (place >= cutting.n) return;
  const std::uint32_t number = cutting.order ? cutting.order[place] : static_cast<std::uint32_t>(place);
  if (number < cutting.first_number || number - cutting.first_number >= cutting.rows.rows) return;
  const float* const row = row_at(cutting.rows, cutting.rows.first + (number - cutting.first_number));
  const float value = __ldg(row + std::size_t{cutting.column} * rows_a_block);
  cutting.places[place] = place >> cutting.part_bits << 32 | ordered_bits(value);
  cutting.numbers[place] = number;
}

/// Scratch for n rows: places before and after the sort, row numbers, and what the sort needs.
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

/// Writes places along the curve to memory.
cudaError_t place_along_curve(const Queue& queue, const spi::OrderStep& step, const OrderMemory& memory) {
  std::uint32_t first = 0;
  for (const spi::RowBlocks& part : step.rows) {
    const Placing placing{rows_of(part), matrix_of(step.frame).data, memory.places, memory.numbers, first};
    const cudaError_t error = place_part(queue, placing, spi::curve_columns(part.dims));
    if (error != cudaSuccess) return error;
    first += part.rows;
  }
  return cudaSuccess;
}

/// Writes places in a cut to memory.
cudaError_t place_by_cut(const Queue& queue, const spi::OrderStep& step, std::size_t cut,
                         const OrderMemory& memory) {
  constexpr std::uint32_t bits_of_part = 10;
  static_assert(1u << bits_of_part == spi::part_rows);
  const std::uint32_t below =
      spi::bits_before(step.cuts, step.cuts.size()) - spi::bits_before(step.cuts, cut);
  Cutting cutting{{},
                  cut > 0 ? matrix_of(step.out).data : nullptr,
                  memory.places,
                  memory.numbers,
                  0,
                  count_of(step.out.cols),
                  step.cuts[cut].column,
                  bits_of_part + below};
  for (const spi::RowBlocks& part : step.rows) {
    cutting.rows = rows_of(part);
    const cudaError_t error = launch(queue, place_in_cut, divide_up(cutting.n, threads), threads, 0, cutting);
    if (error != cudaSuccess) return error;
    cutting.first_number += part.rows;
  }
  return cudaSuccess;
}

/// Sorts the pairs in memory into the step's order.
cudaError_t sort_places(const Queue& queue, const spi::OrderStep& step, const OrderMemory& memory, Bits by) {
  return sort_pairs(
      queue,
      {memory.places, memory.sorted, memory.numbers, matrix_of(step.out).data, count_of(step.out.cols)}, by,
      memory.rest, step.scratch.bytes - memory.before_rest);
}

}  // namespace

std::size_t order_scratch(const spi::OrderStep& step) {
  const std::uint32_t n = count_of(step.out.cols);
  return OrderMemory(nullptr, n).before_rest + sort_pairs_bytes(n);
}

cudaError_t order(const Queue& queue, const spi::OrderStep& step) {
  const std::uint32_t n = count_of(step.out.cols);
  if (n == 0) return cudaSuccess;
  const OrderMemory memory(address_of<void>(step.scratch), n);
  for (std::size_t cut = 0; cut < step.cuts.size(); ++cut) {
    cudaError_t error = place_by_cut(queue, step, cut, memory);
    const int bits = 32 + static_cast<int>(spi::bits_before(step.cuts, cut));
    if (error == cudaSuccess) error = sort_places(queue, step, memory, {0, bits});
    if (error != cudaSuccess) return error;
  }
  if (!step.cuts.empty()) return cudaSuccess;
  const cudaError_t error = place_along_curve(queue, step, memory);
  if (error != cudaSuccess) return error;
  const std::uint32_t columns = spi::curve_columns(step.rows.front().dims),
                      all_bits = columns * spi::curve_bits(columns), bits = std::min(step.bits, all_bits);
  return sort_places(queue, step, memory, {static_cast<int>(all_bits - bits), static_cast<int>(all_bits)});
}

}  // namespace kith::cuda
