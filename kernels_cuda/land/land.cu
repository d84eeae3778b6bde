// land: converts rows of the caller into rows of float32 in blocks.
//
//   from     [rows, cols]    elements at any address; stride in bytes
//   columns  [dims]          the column of `from` for each column of out; or null: all
//   chosen   [rows]          the rows of the caller that are landed; or null: 0, 1, ...
//   out      [blocks, dims, 32]  transposed, from block 0 of the step on; the last block is padded with 0
//   found    [3]             the largest |value| as bits, the first row that holds a NaN or an infinity, and
//                            1 if a value is not on the grid
//
// Values are handled as bits, so that no float arithmetic changes or flushes one. A column of `bits` is a
// word of 32 bits. Elements that are not aligned to their size are read byte by byte.
//
// A block of 256 threads passes 32 columns of 32 rows through shared memory, so that it reads and writes
// whole lines. Work: each element is read once and written once. Two barriers. Shared memory: 4.2 KiB.
#include "common/common.cuh"

namespace kith::cuda {
namespace {

constexpr std::uint32_t land_threads = 256, tile = 32, passes = tile * tile / land_threads;
static_assert(tile == rows_a_block);
constexpr std::uint32_t magnitude_bits = 0x7FFFFFFFu, infinity_bits = 0x7F800000u;

struct Raw {
  const unsigned char* data;  ///< row 0
  std::size_t stride;         ///< bytes
  std::uint32_t rows, cols;
  const std::uint32_t *columns, *chosen;
};

struct Landed {
  float* data;  ///< block 0
  std::uint32_t dims, tiles;
  std::uint32_t* found;
  std::uint32_t first_row;
  spi::FloatGrid grid;
};

template <bool aligned>
__device__ __forceinline__ std::uint32_t half_word(const unsigned char* row, std::uint32_t d) {
  if constexpr (aligned) return reinterpret_cast<const unsigned short*>(row)[d];
  const unsigned char* const at = row + 2 * std::size_t{d};
  return at[0] | static_cast<std::uint32_t>(at[1]) << 8;
}

/// Converts a half to a float, both as bits. A half below 2^-14 is a whole multiple of 2^-24.
__device__ __forceinline__ std::uint32_t float_of_half(std::uint32_t half_bits) {
  const std::uint32_t sign = (half_bits & 0x8000u) << 16, exponent = half_bits >> 10 & 0x1Fu,
                      fraction = half_bits & 0x3FFu;
  if (exponent == 0) return sign | __float_as_uint(static_cast<float>(fraction) * 0x1p-24f);
  return sign | (exponent == 0x1Fu ? 0xFFu : exponent + 112) << 23 | fraction << 13;
}

/// Returns word d of a row of bits; bits behind column cols - 1 are 0.
__device__ __forceinline__ std::uint32_t word_of_bits(const unsigned char* row, std::uint32_t d,
                                                      std::uint32_t cols) {
  std::uint32_t word = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    const std::uint32_t byte = 4 * d + i;
    if (std::uint64_t{byte} * 8 >= cols) break;
    const std::uint32_t left = cols - byte * 8, kept = left < 8 ? 0xFFu << (8 - left) & 0xFFu : 0xFFu;
    word |= (row[byte] & kept) << 8 * i;
  }
  return word;
}

/// Returns column d of a row, as the bits of a float.
template <Element element, bool aligned>
__device__ __forceinline__ std::uint32_t landed(const unsigned char* row, std::uint32_t d,
                                                std::uint32_t cols) {
  if constexpr (element == Element::f32 && aligned) {
    return reinterpret_cast<const std::uint32_t*>(row)[d];
  } else if constexpr (element == Element::f32) {
    const unsigned char* const at = row + 4 * std::size_t{d};
    return at[0] | static_cast<std::uint32_t>(at[1]) << 8 | static_cast<std::uint32_t>(at[2]) << 16 |
           static_cast<std::uint32_t>(at[3]) << 24;
  } else if constexpr (element == Element::f16) {
    return float_of_half(half_word<aligned>(row, d));
  } else if constexpr (element == Element::bf16) {
    return half_word<aligned>(row, d) << 16;
  } else if constexpr (element == Element::u8) {
    return __float_as_uint(static_cast<float>(row[d]));
  } else if constexpr (element == Element::i8) {
    return __float_as_uint(static_cast<float>(reinterpret_cast<const signed char*>(row)[d]));
  } else {
    return word_of_bits(row, d, cols);
  }
}

/// Does what lies_on() of rows/landed/byte_grid.cpp does.
__device__ __forceinline__ bool lies_off(float value, const spi::FloatGrid& grid) {
  constexpr float to_whole = 0x1.8p23f;
  const float i = ((value - grid.centre) * grid.scale + to_whole) - to_whole;
  return !(grid.centre + i * grid.step == value) || !(i >= spi::least_on_grid) || !(i <= spi::most_on_grid);
}

template <Element element, bool aligned>
__global__ __launch_bounds__(land_threads) void land_tile(const Raw from, const Landed to) {
  __shared__ std::uint32_t staged[tile][tile + 1];
  __shared__ std::uint32_t largest_of_block, bad_of_block, off_of_block;
  const std::uint32_t lane = threadIdx.x % tile, line = threadIdx.x / tile;
  const std::uint64_t block = blockIdx.x / to.tiles;
  const std::uint32_t d0 = blockIdx.x % to.tiles * tile;
  if (threadIdx.x == 0) {
    largest_of_block = 0;
    bad_of_block = no_row;
    off_of_block = 0;
  }
  __syncthreads();
  std::uint32_t largest = 0, bad = no_row;
  bool off = false;
  for (std::uint32_t i = 0; i < passes; ++i) {
    const std::uint32_t b = line + i * (land_threads / tile), d = d0 + lane;
    const std::uint64_t r = block * tile + b;
    std::uint32_t value = 0, number = 0;
    if (r < from.rows && d < to.dims) {
      number = from.chosen ? from.chosen[r] : static_cast<std::uint32_t>(r);
      value = landed<element, aligned>(from.data + number * from.stride, from.columns ? from.columns[d] : d,
                                       from.cols);
      if (to.grid.step != 0 && lies_off(__uint_as_float(value), to.grid)) off = true;
    }
    staged[b][lane] = value;
    const std::uint32_t magnitude = value & magnitude_bits;
    largest = max(largest, magnitude);
    if (magnitude >= infinity_bits) bad = min(bad, to.first_row + number);
  }
  if constexpr (element != Element::bits) {
    atomicMax(&largest_of_block, largest);
    if (bad != no_row) atomicMin(&bad_of_block, bad);
    if (off) atomicMax(&off_of_block, 1u);
  }
  __syncthreads();
  auto* const out = reinterpret_cast<std::uint32_t*>(to.data) + block * to.dims * tile;
  for (std::uint32_t i = 0; i < passes; ++i) {
    const std::uint32_t column = line + i * (land_threads / tile), d = d0 + column;
    if (d < to.dims) out[std::size_t{d} * tile + lane] = staged[lane][column];
  }
  if (threadIdx.x != 0) return;
  if (largest_of_block > 0) atomicMax(to.found + spi::largest_bits, largest_of_block);
  if (bad_of_block != no_row) atomicMin(to.found + spi::bad_row, bad_of_block);
  if (off_of_block != 0) atomicMax(to.found + spi::off_grid, 1u);
}

template <Element element>
cudaError_t land_of(const Queue& queue, const Raw& from, const Landed& to) {
  const std::uint64_t blocks = divide_up<std::uint64_t>(from.rows, tile) * to.tiles;
  constexpr auto bytes = static_cast<std::size_t>(element_bytes(element));
  const bool aligned = reinterpret_cast<std::uintptr_t>(from.data) % bytes == 0 && from.stride % bytes == 0;
  return launch(queue, aligned ? land_tile<element, true> : land_tile<element, false>, blocks, land_threads,
                0, from, to);
}

}  // namespace

cudaError_t land(const Queue& queue, const spi::LandStep& step) {
  const spi::RawRows& raw = step.from;
  const Raw from{static_cast<const unsigned char*>(address_of(raw.memory)) + raw.first,
                 raw.stride,
                 raw.rows,
                 raw.cols,
                 step.columns.cols > 0 ? matrix_of(step.columns).data : nullptr,
                 step.chosen.cols > 0 ? matrix_of(step.chosen).data : nullptr};
  const std::uint32_t dims = step.out.dims;
  const Landed to{static_cast<float*>(address_of(step.out.memory)) + std::size_t{step.out.first} * dims,
                  dims,
                  divide_up(dims, tile),
                  matrix_of(step.found).data,
                  step.first_row,
                  step.grid};
  switch (raw.element) {
    case Element::f32:
      return land_of<Element::f32>(queue, from, to);
    case Element::f16:
      return land_of<Element::f16>(queue, from, to);
    case Element::bf16:
      return land_of<Element::bf16>(queue, from, to);
    case Element::u8:
      return land_of<Element::u8>(queue, from, to);
    case Element::i8:
      return land_of<Element::i8>(queue, from, to);
    case Element::bits:
      return land_of<Element::bits>(queue, from, to);
    case Element::f64:  // the host rounds these, or they are of an index in double precision
    case Element::i32:
    case Element::u32:
    case Element::i64:
      break;
  }
  return cudaErrorInvalidValue;
}

}  // namespace kith::cuda
