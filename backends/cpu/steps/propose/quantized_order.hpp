// The orders of the elements of quantized rows, as prepare writes them for the kernels that propose. An
// order's write() puts dimension d of x' = x - c, which is `moved` for rows r ... r + count - 1, into its
// place, and returns the values that the quantized rows then have.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "cpu/isa/kernels.hpp"
#include "kith/spi.hpp"

namespace kith::cpu {

/// Returns the size of an element of quantized rows, in bytes.
constexpr std::size_t element_bytes(Proposer proposer) {
  return proposer == Proposer::int8   ? sizeof(std::int8_t)
         : proposer == Proposer::bf16 ? sizeof(std::uint16_t)
                                      : sizeof(float);
}

/// Returns the number of elements from one quantized row to the next, for proposers with their own order.
constexpr std::size_t pitch_of(Proposer proposer, std::size_t dims) {
  return proposer == Proposer::dot ? dims : spi::quantized_columns(proposer, dims);
}

/// Returns `value` as the upper half of a float, rounded to nearest, ties to even. Subnormal results become
/// 0, because matrix units treat them as 0.
inline std::uint16_t to_bf16(float value) {
  std::uint32_t bits;
  __builtin_memcpy(&bits, &value, sizeof bits);
  const auto rounded = static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
  return (rounded & 0x7F80u) == 0 ? static_cast<std::uint16_t>(rounded & 0x8000u) : rounded;
}

inline float from_bf16(std::uint16_t half) {
  const std::uint32_t bits = static_cast<std::uint32_t>(half) << 16;
  float value;
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

/// Returns the whole number nearest to `value`, from `least` to `most`. Its comparisons vectorise.
inline std::int32_t to_byte(float value, float least, float most) {
  constexpr float whole = 0x1.8p23f;  // a float as large as this has no fraction
  const float above = __builtin_isless(value, least) ? least : value;
  const float within = __builtin_isgreater(above, most) ? most : above;
  return static_cast<std::int32_t>((within + whole) - whole);
}

/// Returns the share of the requested scale that bytes of up to `most` allow: a power of two.
constexpr float share_of_scale(int most) {
  return most < most_byte ? 0.5f : 1.0f;
}

/// gemm: rows of floats in row-major order.
struct RowOrder {
  std::size_t stride;

  void write(std::byte* out, std::size_t r, std::size_t count, std::size_t d, const float* moved,
             double* quantized) const {
    for (std::size_t i = 0; i < count; ++i) {
      reinterpret_cast<float*>(out)[(r + i) * stride + d] = moved[i];
      quantized[i] = static_cast<double>(moved[i]);
    }
  }
};

/// dot: blocks like those of the original rows (spi::RowBlocks), from row 0 of the grid.
struct FloatOrder {
  std::size_t block, dims;

  std::size_t place_of(std::size_t r, std::size_t d) const {
    return (r / block * dims + d) * block + r % block;
  }
  void write(std::byte* out, std::size_t r, std::size_t count, std::size_t d, const float* moved,
             double* quantized) const {
    for (std::size_t i = 0; i < count; ++i) {
      reinterpret_cast<float*>(out)[place_of(r + i, d)] = moved[i];
      quantized[i] = static_cast<double>(moved[i]);
    }
  }
};

/// bf16: tiles of 16 rows by 32 dimensions; the tiles of 16 rows are contiguous. In a tile of queries, rows
/// are contiguous; in a tile of training rows, pairs of dimensions of 16 rows are side by side.
struct TileOrder {
  static constexpr std::size_t rows = 16, dims = 32, pair = 2;
  std::size_t tiles;  ///< number of tiles of a row
  bool of_queries;

  std::size_t place_of(std::size_t r, std::size_t d) const {
    const std::size_t tile = (r / rows * tiles + d / dims) * (rows * dims), row = r % rows, at = d % dims;
    return tile + (of_queries ? row * dims + at : (at / pair * rows + row) * pair + at % pair);
  }
  void write(std::byte* out, std::size_t r, std::size_t count, std::size_t d, const float* moved,
             double* quantized) const {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t half = to_bf16(moved[i]);
      reinterpret_cast<std::uint16_t*>(out)[place_of(r + i, d)] = half;
      quantized[i] = static_cast<double>(from_bf16(half));
    }
  }
};

/// int8: contiguous blocks of 16 training rows or of 4 queries. A block has four dimensions of all its rows
/// side by side, then the next four.
struct ByteOrder {
  static constexpr std::size_t four = byte_dims;
  std::size_t rows;     ///< number of rows of a block
  std::size_t columns;  ///< number of columns of a row, with padding
  float scale, least, most;
  double unscale;

  ByteOrder(bool of_queries, std::size_t padded_columns, float times, int least_of_all, int most_of_all)
      : rows(of_queries ? byte_query_block : byte_train_block),
        columns(padded_columns),
        scale(times),
        least(static_cast<float>(least_of_all)),
        most(static_cast<float>(most_of_all)),
        unscale(1 / double{times}) {}

  std::size_t place_of(std::size_t r, std::size_t d) const {
    return r / rows * (rows * columns) + (d / four * rows + r % rows) * four + d % four;
  }
  void write(std::byte* out, std::size_t r, std::size_t count, std::size_t d, const float* moved,
             double* quantized) const {
    std::array<std::int32_t, 16> bytes;
    for (std::size_t i = 0; i < count; ++i) bytes[i] = to_byte(moved[i] * scale, least, most);
    auto* const all = reinterpret_cast<std::int8_t*>(out);
    if (r % rows + count <= rows) {  // the rows are side by side
      std::int8_t* const place = all + place_of(r, d);
      for (std::size_t i = 0; i < count; ++i) place[i * four] = static_cast<std::int8_t>(bytes[i]);
    } else {
      for (std::size_t i = 0; i < count; ++i) all[place_of(r + i, d)] = static_cast<std::int8_t>(bytes[i]);
    }
    for (std::size_t i = 0; i < count; ++i) quantized[i] = static_cast<double>(bytes[i]) * unscale;
  }
};

}  // namespace kith::cpu
