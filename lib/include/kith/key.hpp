// Defines keys: 64-bit numbers whose order as integers is the order of docs/contract.md, section 2.
#pragma once

#include <bit>
#include <cstdint>

#include "kith/cxx20.hpp"

namespace kith {

/// Is `ordered(value) << 32
/// row`. A smaller key is nearer: it has the smaller value, or among equal values the smaller training row.
/// docs/contract.md, section 2.
using Key = std::uint64_t;

/// The row number that stands for no row.
inline constexpr std::uint32_t no_row = 0xFFFFFFFFu;

/// The upper half of no_key and of the keys of masked pairs. It comes after that of every value.
inline constexpr std::uint32_t no_value = 0xFFFFFFFFu;

/// The key that pads short lists. It comes after every candidate.
inline constexpr Key no_key = 0xFFFFFFFFFFFFFFFFull;

/// Maps a float to an unsigned number with the same order; -0 becomes +0. The only NaN on a device is that of
/// a masked pair (spi::masked_bits), which becomes no_value, after +infinity. It looks at bits alone, so that
/// a thread that takes subnormals for 0 gets the same.
constexpr std::uint32_t ordered(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return bits >> 31 && bits << 1 != 0 ? ~bits : bits | 0x80000000u;
}

/// Returns the float that ordered() mapped to `code`.
constexpr float unordered(std::uint32_t code) {
  return std::bit_cast<float>(code >> 31 ? code & 0x7FFFFFFFu : ~code);
}

/// Does the same for doubles, of which no NaN reaches a key.
constexpr std::uint64_t ordered(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return bits >> 63 && bits << 1 != 0 ? ~bits : bits | 0x8000000000000000ull;
}

/// Returns the double that ordered() mapped to `code`.
constexpr double unordered_double(std::uint64_t code) {
  return std::bit_cast<double>(code >> 63 ? code & 0x7FFFFFFFFFFFFFFFull : ~code);
}

/// Is no_value of keys of doubles: it comes after the code of every double.
inline constexpr std::uint64_t no_double = 0xFFFFFFFFFFFFFFFFull;

constexpr Key make_key(float value, std::uint32_t row) {
  return static_cast<Key>(ordered(value)) << 32 | row;
}

/// Returns the raw value of a key; +infinity for no_key and masked pairs.
constexpr float value_of(Key key) {
  const auto code = static_cast<std::uint32_t>(key >> 32);
  return code == no_value ? std::bit_cast<float>(0x7F800000u) : unordered(code);
}

/// Returns the training row of a key; no_row for no_key.
constexpr std::uint32_t row_of(Key key) {
  return static_cast<std::uint32_t>(key);
}

}  // namespace kith
