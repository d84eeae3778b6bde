#include "files/exact_value.hpp"

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

namespace kith::files {
namespace {

/// Returns the binary16 that equals this value; none if there is no such number.
std::optional<std::uint16_t> f16_of(float value) {
  const auto pattern = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = pattern >> 16 & 0x8000u;
  const float magnitude = std::fabs(value);
  if (magnitude < least_normal_f16) {  // a multiple of 2^-24
    const float steps = magnitude * 0x1p24f;
    if (steps != std::trunc(steps)) return std::nullopt;
    return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(steps));
  }
  if (!(magnitude <= most_f16) || (pattern & 0x1FFFu) != 0) return std::nullopt;
  return static_cast<std::uint16_t>(sign | (((pattern & 0x7FFFFFFFu) >> 13) - (112u << 10)));
}

std::optional<std::uint16_t> bf16_of(float value) {
  const auto pattern = std::bit_cast<std::uint32_t>(value);
  if ((pattern & 0xFFFFu) != 0) return std::nullopt;
  return static_cast<std::uint16_t>(pattern >> 16);
}

/// A whole number of one byte, among which there is no -0.
template <class Byte>
std::optional<Byte> byte_of(float value) {
  constexpr auto least = static_cast<float>(std::numeric_limits<Byte>::min());
  constexpr auto most = static_cast<float>(std::numeric_limits<Byte>::max());
  const bool whole = value >= least && value <= most && value == std::trunc(value);
  if (!whole || (value == 0 && std::signbit(value))) return std::nullopt;
  return static_cast<Byte>(value);
}

template <class Pattern>
bool append(std::optional<Pattern> pattern, std::vector<unsigned char>& bytes) {
  if (!pattern) return false;
  unsigned char its[sizeof(Pattern)];
  std::memcpy(its, &*pattern, sizeof its);
  bytes.insert(bytes.end(), its, its + sizeof its);
  return true;
}

}  // namespace

bool append_exact(Element element, float value, std::vector<unsigned char>& bytes) {
  switch (element) {
    case Element::f16:
      return append(f16_of(value), bytes);
    case Element::bf16:
      return append(bf16_of(value), bytes);
    case Element::u8:
      return append(byte_of<std::uint8_t>(value), bytes);
    case Element::i8:
      return append(byte_of<std::int8_t>(value), bytes);
    default:
      return append(std::optional(value), bytes);
  }
}

}  // namespace kith::files
