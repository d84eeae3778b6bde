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

/// Rows in contiguous blocks of `rows` rows. A block has `side` dimensions of each of its rows, row after
/// row, then the next ones. Both numbers are powers of two.
struct SideBySide {
  std::size_t rows, side;
  std::size_t columns;  ///< number of columns of a row, with padding

  std::size_t place_of(std::size_t r, std::size_t d) const {
    const std::size_t row = r & (rows - 1), at = d & (side - 1);
    return (r - row) * columns + (d - at) * rows + row * side + at;
  }
};

/// bf16: the tiles of matrix units.
struct TileOrder {
  SideBySide places;

  TileOrder(bool of_queries, std::size_t columns)
      : places{tile_rows, (of_queries ? tile_line : tile_pack) / sizeof(std::uint16_t), columns} {}

  void write(std::byte* out, std::size_t r, std::size_t count, std::size_t d, const float* moved,
             double* quantized) const {
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint16_t half = to_bf16(moved[i]);
      reinterpret_cast<std::uint16_t*>(out)[places.place_of(r + i, d)] = half;
      quantized[i] = static_cast<double>(from_bf16(half));
    }
  }
};

/// int8: four dimensions of a row are side by side, of 16 training rows or of 4 queries. For matrix units
/// queries are in tiles.
struct ByteOrder {
  SideBySide places;
  float scale, least, most;
  double unscale;

  ByteOrder(const SideBySide& at, float times, int least_of_all, int most_of_all)
      : places(at),
        scale(times),
        least(static_cast<float>(least_of_all)),
        most(static_cast<float>(most_of_all)),
        unscale(1 / double{times}) {}

  static SideBySide places_of_train(std::size_t dims) {
    return {byte_train_block, byte_dims, spi::quantized_columns(Proposer::int8, dims)};
  }
  static SideBySide places_of_queries(std::size_t dims, bool tiles) {
    const std::size_t columns = spi::quantized_columns(Proposer::int8, dims);
    if (tiles) return {tile_rows, columns < tile_line ? columns : tile_line, columns};
    return {byte_query_block, byte_dims, columns};
  }

  void write(std::byte* out, std::size_t r, std::size_t count, std::size_t d, const float* moved,
             double* quantized) const {
    std::array<std::int32_t, 16> bytes;
    for (std::size_t i = 0; i < count; ++i) bytes[i] = to_byte(moved[i] * scale, least, most);
    auto* const all = reinterpret_cast<std::int8_t*>(out);
    if ((r & (places.rows - 1)) + count <= places.rows) {  // the rows are in one block
      std::int8_t* const place = all + places.place_of(r, d);
      for (std::size_t i = 0; i < count; ++i) place[i * places.side] = static_cast<std::int8_t>(bytes[i]);
    } else {
      for (std::size_t i = 0; i < count; ++i)
        all[places.place_of(r + i, d)] = static_cast<std::int8_t>(bytes[i]);
    }
    for (std::size_t i = 0; i < count; ++i) quantized[i] = static_cast<double>(bytes[i]) * unscale;
  }
};

}  // namespace kith::cpu
