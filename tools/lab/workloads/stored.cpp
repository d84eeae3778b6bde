#include "lab/workloads/stored.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

namespace kith::workloads {
namespace {

constexpr float least_normal_f16 = 0x1p-14f, most_f16 = 65504;

/// Without its lower 16 bits. Not by a mask: in one branch of several gcc 12.2 leaves `& ~0xFFFFu` of a
/// float's bits out, at -O1 and above.
float upper_half(float value) {
  auto halves = std::bit_cast<std::array<std::uint16_t, 2>>(value);
  halves[std::endian::native == std::endian::big ? 1 : 0] = 0;
  return std::bit_cast<float>(halves);
}

float rounded(Element element, float value) {
  const float magnitude = std::fabs(value);
  switch (element) {
    case Element::f16:
      if (magnitude >= most_f16) return std::copysign(most_f16, value);
      if (magnitude < least_normal_f16)
        return std::copysign(std::trunc(magnitude * 0x1p24f) * 0x1p-24f, value);
      return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) & ~0x1FFFu);
    case Element::bf16:
      return upper_half(value);
    case Element::u8:
      return std::trunc(std::min(magnitude, 255.0f));
    case Element::i8:
      return std::trunc(std::clamp(value, -127.0f, 127.0f)) + 0.0f;  // no -0
    default:
      return value;
  }
}

/// The binary16 that is this value; none: there is no such number.
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

void round_to(Element element, Metric metric, Rows& rows) {
  for (std::int64_t r = 0; r < rows.rows(); ++r) {
    float* const row = rows.row(r);
    std::transform(row, row + rows.dims(), row, [&](float value) { return rounded(element, value); });
    const bool zeros = std::all_of(row, row + rows.dims(), [](float value) { return value == 0.0f; });
    if (metric == Metric::cosine && zeros) row[0] = 1.0f;
  }
}

StoredRows::StoredRows(Element element, const Rows& rows)
    : element_(element),
      rows_(rows.rows()),
      cols_(element == Element::bits ? 32 * rows.dims() : rows.dims()) {
  bytes_.reserve(static_cast<std::size_t>(rows_ * row_bytes(element, cols_)));
  for (std::int64_t r = 0; r < rows_; ++r)
    for (std::int64_t d = 0; d < rows.dims(); ++d) append_exact(element, rows.view()(r, d), bytes_);
}

}  // namespace kith::workloads
