#include "workloads/stored.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "files/exact_value.hpp"

namespace kith::workloads {
namespace {

using files::least_normal_f16, files::most_f16;

/// Returns the value without its lower 16 bits. gcc 12.2 at -O1 and above drops `& ~0xFFFFu` of a float's
/// bits in one branch of several, so no mask is used.
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

}  // namespace

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
    for (std::int64_t d = 0; d < rows.dims(); ++d) files::append_exact(element, rows.view()(r, d), bytes_);
}

}  // namespace kith::workloads
