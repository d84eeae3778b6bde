// land: converts rows of the caller into rows of float32 in blocks.
#include <algorithm>
#include <atomic>
#include <bit>

#include "cpu/steps/steps.hpp"
#include "host/parallel.hpp"
#include "kith/key.hpp"
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
std::uint32_t land_one(const spi::LandStep& step, std::size_t r, std::uint32_t from) {
  const std::size_t block = step.out.block, dims = step.out.dims, at = step.out.first + r;
  const auto* const row = reinterpret_cast<const unsigned char*>(bytes_of(*step.from.memory)) +
                          step.from.first + from * step.from.stride;
  float* const to =
      reinterpret_cast<float*>(bytes_of(*step.out.memory)) + at / block * block * dims + at % block;
  float values[piece];
  std::uint32_t largest = 0;
  for (std::size_t d = 0; d < dims; d += piece) {
    const std::size_t count = std::min(piece, dims - d);
    land_piece(step, row, d, count, values);
    for (std::size_t i = 0; i < count; ++i) {
      to[(d + i) * block] = values[i];
      largest = std::max(largest, std::bit_cast<std::uint32_t>(values[i]) & magnitude_bits);
    }
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
  constexpr std::size_t a_share = 64;
  const std::size_t rows = step.from.rows;
  std::uint32_t* const found = elements(step.found);
  const std::uint32_t* const chosen = step.chosen.cols > 0 ? elements(step.chosen) : nullptr;
  std::atomic<std::uint32_t> largest = found[spi::largest_bits], bad = found[spi::bad_row];
  run_team((rows + a_share - 1) / a_share, rows * step.out.dims, with.team,
           [&](std::size_t share, std::size_t) {
             for (std::size_t r = share * a_share; r < std::min(rows, (share + 1) * a_share); ++r) {
               const std::uint32_t from = chosen ? chosen[r] : static_cast<std::uint32_t>(r);
               const std::uint32_t most = land_one(step, r, from);
               if (step.from.element == Element::bits) continue;
               raise_to(largest, most);
               if (most >= infinity_bits) lower_to(bad, step.first_row + from);
             }
           });
  fill_last_block(step.out);
  found[spi::largest_bits] = largest;
  found[spi::bad_row] = bad;
}

}  // namespace kith::cpu
