// land: converts rows of the caller into rows of float32 in blocks.
#include <algorithm>
#include <atomic>
#include <bit>

#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"
#include "kith/key.hpp"
#include "rows/landed/byte_grid.hpp"
#include "rows/landing.hpp"

namespace kith::cpu {
namespace {

constexpr std::uint32_t magnitude_bits = 0x7FFFFFFFu, infinity_bits = 0x7F800000u;
constexpr std::size_t piece = 256;  // number of columns that are landed at once

/// Lands some of the columns that count, from d on, of one row.
void land_piece(const spi::LandStep& step, const unsigned char* row, std::size_t d, std::size_t count,
                float* to) {
  const spi::RawRows& from = step.from;
  if (step.columns.cols > 0) {
    const std::uint32_t* const columns = elements(step.columns) + d;
    const auto bytes = static_cast<std::size_t>(element_bytes(from.element));
    for (std::size_t i = 0; i < count; ++i) land_row(from.element, row + columns[i] * bytes, 1, to + i);
  } else if (from.element == Element::bits) {
    const std::size_t begin = d * bits_a_word,
                      end = std::min<std::size_t>(from.cols, begin + count * bits_a_word);
    land_row(from.element, row + begin / 8, static_cast<std::int64_t>(end - begin), to);
  } else {
    land_row(from.element, row + d * static_cast<std::size_t>(element_bytes(from.element)),
             static_cast<std::int64_t>(count), to);
  }
}

/// Lands row r of the step in its block. Returns the largest |value|, as bits.
///   from  its number among the caller's rows
///   off   becomes true if a value is not on the grid of the step
std::uint32_t land_one(const spi::LandStep& step, std::size_t r, std::uint32_t from, std::atomic<bool>& off) {
  const std::size_t block = step.out.block, dims = step.out.dims, at = step.out.first + r;
  const auto* const row = reinterpret_cast<const unsigned char*>(bytes_of(*step.from.memory)) +
                          step.from.first + from * step.from.stride;
  float* const to =
      reinterpret_cast<float*>(bytes_of(*step.out.memory)) + at / block * block * dims + at % block;
  float values[piece];
  std::uint32_t largest = 0;
  const ByteGrid grid{step.grid.centre, step.grid.scale, true};
  for (std::size_t d = 0; d < dims; d += piece) {
    const std::size_t count = std::min(piece, dims - d);
    land_piece(step, row, d, count, values);
    if (grid.there() && !lies_on(grid, values, static_cast<std::int64_t>(count))) off = true;
    for (std::size_t i = 0; i < count; ++i) {
      to[(d + i) * block] = values[i];
      largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & magnitude_bits);
    }
  }
  return largest;
}

/// Four floats at any address of a float, and their bits.
typedef float Four __attribute__((vector_size(16), aligned(4), may_alias));
typedef std::int32_t FourBits __attribute__((vector_size(16)));
constexpr std::size_t four = 4;

/// Transposes four elements of each of four rows, so that the rows of one column lie together. The first
/// `columns` are written.
///   row      the first of the elements; the next row is `stride` bytes further
///   largest  raised to the largest magnitude of all four, as bits
template <std::size_t columns = four>
inline void turn(const unsigned char* row, std::size_t stride, float* to, std::size_t block,
                 FourBits& largest) {
  const auto load = [&](std::size_t r) {
    const Four values = *reinterpret_cast<const Four*>(row + r * stride);
    FourBits bits;
    static_assert(sizeof bits == sizeof values);
    __builtin_memcpy(&bits, &values, sizeof bits);
    bits &= static_cast<std::int32_t>(magnitude_bits);
    largest = bits > largest ? bits : largest;
    return values;
  };
  const Four a = load(0), b = load(1), c = load(2), d = load(3);
  const auto store = [&](std::size_t column, Four values) {
    if (column < columns) *reinterpret_cast<Four*>(to + column * block) = values;
  };
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  store(0, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
  store(1, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
  const Four ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(2, __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5));
  store(3, __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7));
}

/// Returns whether rows r, r + 1, ... of the step are floats without a choice or a grid, and fill a block.
bool fills_block(const spi::LandStep& step, std::size_t r, std::size_t end) {
  const auto address = reinterpret_cast<std::uintptr_t>(bytes_of(*step.from.memory)) + step.from.first;
  return step.from.element == Element::f32 && step.columns.cols == 0 && step.chosen.cols == 0 &&
         step.grid.step == 0 && step.out.block % four == 0 && (step.out.first + r) % step.out.block == 0 &&
         r + step.out.block <= end && address % alignof(float) == 0 && step.from.stride % alignof(float) == 0;
}

/// Asks for `bytes` of memory from an address on, which are read soon.
inline void fetch(const unsigned char* from, std::size_t bytes) {
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < bytes; at += line) __builtin_prefetch(from + at);
}

/// Lands the rows of a block, of two or three columns each. Reads the row behind them, too, which follows
/// without a gap.
template <std::size_t columns>
void land_narrow(const unsigned char* rows, float* to, std::size_t block, FourBits& magnitudes) {
  constexpr std::size_t stride = columns * sizeof(float);
  for (std::size_t b = 0; b < block; b += four)
    turn<columns>(rows + b * stride, stride, to + b, block, magnitudes);
}

/// Lands these rows. Returns the largest |value|, as bits; it may be that of the row behind them.
std::uint32_t land_block(const spi::LandStep& step, std::size_t r) {
  const std::size_t block = step.out.block, dims = step.out.dims, stride = step.from.stride;
  const auto* const rows =
      reinterpret_cast<const unsigned char*>(bytes_of(*step.from.memory)) + step.from.first + r * stride;
  float* const to = reinterpret_cast<float*>(bytes_of(*step.out.memory)) + (step.out.first + r) * dims;
  const bool reads_on = stride == dims * sizeof(float) && r + block < step.from.rows;
  FourBits magnitudes = {};
  std::size_t landed = dims;
  if (dims >= four) {  // the last columns, if they are fewer than four, with some of those before them
    const bool is_tight = stride == dims * sizeof(float) && r + 2 * block <= step.from.rows;
    for (std::size_t d = 0; d < dims; d += four) {
      // Columns of many rows are read here and there, which no processor foresees. The next block comes
      // in order.
      if (is_tight) fetch(rows + block * (stride + d * sizeof(float)), block * four * sizeof(float));
      for (std::size_t b = 0, from = std::min(d, dims - four); b < block; b += four)
        turn(rows + b * stride + from * sizeof(float), stride, to + from * block + b, block, magnitudes);
    }
  } else if (reads_on && dims == 3) {
    land_narrow<3>(rows, to, block, magnitudes);
  } else if (reads_on && dims == 2) {
    land_narrow<2>(rows, to, block, magnitudes);
  } else {
    landed = 0;
  }
  std::uint32_t largest = 0;
  for (std::size_t i = 0; i < four; ++i)
    largest = std::max(largest, static_cast<std::uint32_t>(magnitudes[i]));
  for (std::size_t d = landed; d < dims; ++d)
    for (std::size_t b = 0; b < block; ++b) {
      std::uint32_t bits;
      __builtin_memcpy(&bits, rows + b * stride + d * sizeof(float), sizeof bits);
      to[d * block + b] = std::bit_cast<float>(bits);
      largest = std::max(largest, bits & magnitude_bits);
    }
  return largest;
}

/// Fills the last block behind its last row with zeros.
void fill_last_block(const spi::RowBlocks& out) {
  const std::size_t end = std::size_t{out.first} + out.rows, block = out.block;
  float* const to = reinterpret_cast<float*>(bytes_of(*out.memory)) + end / block * block * out.dims;
  for (std::size_t b = end % block; b > 0 && b < block; ++b)
    for (std::size_t d = 0; d < out.dims; ++d) to[d * block + b] = 0;
}

}  // namespace

spi::Support check(const spi::LandStep&, const Resources&) {
  return {};
}

void run(const spi::LandStep& step, const Resources& with) {
  // A multiple of every block. A task takes narrow rows until it is worth taking.
  constexpr std::size_t least_share = 64, floats_a_task = 4096;
  const std::size_t rows = step.from.rows, dims = std::max<std::size_t>(step.out.dims, 1),
                    a_share = std::max(least_share, floats_a_task / dims / least_share * least_share);
  std::uint32_t* const found = elements(step.found);
  const std::uint32_t* const chosen = step.chosen.cols > 0 ? elements(step.chosen) : nullptr;
  std::atomic<std::uint32_t> largest = found[spi::largest_bits], bad = found[spi::bad_row];
  std::atomic<bool> off = false;
  run_team((rows + a_share - 1) / a_share, rows * step.out.dims, with.team,
           [&](std::size_t share, std::size_t) {
             const std::size_t end = std::min(rows, (share + 1) * a_share);
             std::size_t r = share * a_share;
             for (; fills_block(step, r, end); r += step.out.block) {
               const std::uint32_t most = land_block(step, r);
               if (most >= infinity_bits)
                 break;  // the loop below finds the row, or another share the row behind
               raise_to(largest, most);
             }
             for (; r < end; ++r) {
               const std::uint32_t from = chosen ? chosen[r] : static_cast<std::uint32_t>(r);
               const std::uint32_t most = land_one(step, r, from, off);
               if (step.from.element == Element::bits) continue;
               raise_to(largest, most);
               if (most >= infinity_bits) lower_to(bad, step.first_row + from);
             }
           });
  fill_last_block(step.out);
  found[spi::largest_bits] = largest;
  found[spi::bad_row] = bad;
  if (off && step.from.element != Element::bits) found[spi::off_grid] = 1;
}

}  // namespace kith::cpu
