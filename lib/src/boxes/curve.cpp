#include "boxes/curve.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "kith/spi/boxes.hpp"

namespace kith {
namespace {

constexpr std::uint32_t most_framed = 4096;
constexpr std::size_t outside = 200;  // one row in 200 may lie below the frame, and one above
constexpr double margin = 0.02;       // share of the width added at both ends, for rows outside the sample

using Axes = std::array<std::uint32_t, spi::most_curve_columns>;

std::uint32_t cell_of(float value, float least, float cells, std::uint32_t most) {
  const float at = (value - least) * cells;
  if (at >= static_cast<float>(most)) return most;
  return at > 0 ? static_cast<std::uint32_t>(at) : 0;  // a NaN also gives 0
}

/// Turns the coordinates of a cell into its place on the curve. The bits of the place alternate between the
/// axes, starting with the highest bit of axis[0].
void to_curve(Axes& axis, std::uint32_t columns, std::uint32_t bits) {
  for (std::uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1)
    for (std::uint32_t d = 0; d < columns; ++d) {
      const std::uint32_t below = bit - 1;
      if ((axis[d] & bit) != 0) {  // reflects the first column
        axis[0] ^= below;
      } else {  // swaps it with this one
        const std::uint32_t swapped = (axis[0] ^ axis[d]) & below;
        axis[0] ^= swapped;
        axis[d] ^= swapped;
      }
    }
  for (std::uint32_t d = 1; d < columns; ++d) axis[d] ^= axis[d - 1];
  std::uint32_t turn = 0;
  for (std::uint32_t bit = 1u << (bits - 1); bit > 1; bit >>= 1)
    if ((axis[columns - 1] & bit) != 0) turn ^= bit - 1;
  for (std::uint32_t d = 0; d < columns; ++d) axis[d] ^= turn;
}

}  // namespace

std::vector<std::uint32_t> rows_for_frame(std::uint32_t n) {
  const std::uint32_t count = std::min(n, most_framed);
  std::vector<std::uint32_t> numbers(count);
  for (std::uint32_t i = 0; i < count; ++i)
    numbers[i] = static_cast<std::uint32_t>(std::uint64_t{i} * n / count);
  return numbers;
}

std::vector<Middle> middles_of(MatrixView<const float> sample) {
  std::vector<float> column(size(sample.rows()));
  std::vector<Middle> middles;
  for (std::uint32_t d = 0; d < spi::curve_columns(static_cast<std::uint32_t>(sample.cols())); ++d) {
    for (std::size_t i = 0; i < column.size(); ++i) column[i] = sample.row(static_cast<std::int64_t>(i))[d];
    std::sort(column.begin(), column.end());
    const std::size_t below = column.size() / outside;
    middles.push_back({column[below], column[column.size() - 1 - below]});
  }
  return middles;
}

std::vector<float> curve_frame(MatrixView<const float> sample) {
  const FloatGuard guard;
  constexpr double most = std::numeric_limits<float>::max();
  std::vector<float> frame;
  double furthest = 0;
  for (const Middle& middle : middles_of(sample)) {
    const double reach = middle.high - middle.low;
    frame.push_back(static_cast<float>(std::max(middle.low - margin * reach, -most)));
    furthest = std::max(furthest, (1 + 2 * margin) * reach);
  }
  const double cells = static_cast<double>(1u << spi::curve_bits(static_cast<std::uint32_t>(sample.cols())));
  frame.push_back(furthest > 0 ? static_cast<float>(std::min(cells / furthest, most)) : 0);
  return frame;
}

std::uint64_t place_along_curve(const float* row, std::uint32_t dims, const float* frame) {
  const std::uint32_t columns = spi::curve_columns(dims), bits = spi::curve_bits(dims);
  Axes axis{};
  for (std::uint32_t d = 0; d < columns; ++d)
    axis[d] = cell_of(row[d], frame[d], frame[columns], (1u << bits) - 1);
  to_curve(axis, columns, bits);
  std::uint64_t place = 0;
  for (std::uint32_t bit = bits; bit-- > 0;)
    for (std::uint32_t d = 0; d < columns; ++d) place = place << 1 | (axis[d] >> bit & 1);
  return place;
}

}  // namespace kith
