#include "certified/spread.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "base/numbers.hpp"
#include "kith/spi/byte_grid.hpp"

namespace kith {
namespace {

double squared_distance(std::span<const float> a, std::span<const float> b) {
  double sum = 0;
  for (std::size_t d = 0; d < a.size(); ++d) {
    const double apart = static_cast<double>(a[d]) - static_cast<double>(b[d]);
    sum += apart * apart;
  }
  return sum;
}

}  // namespace

double spread_of_distances(std::span<const float> rows, std::span<const float> centre) {
  constexpr std::size_t most_asked = 16;
  const std::size_t dims = centre.size(), count = dims > 0 ? rows.size() / dims : 0;
  if (count < 2) return 0;
  const auto row = [&](std::size_t i) { return rows.subspan(i * dims, dims); };
  double norms = 0, variances = 0;
  for (std::size_t i = 0; i < count; ++i) norms += squared_distance(row(i), centre);
  const std::size_t asked = std::min(count, most_asked);
  const double others = static_cast<double>(count) - 1;
  for (std::size_t q = 0; q < asked; ++q) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const double squared = squared_distance(row(q), row(i));  // 0 for the row itself
      sum += squared;
      squares += squared * squared;
    }
    variances += std::max(squares / others - (sum / others) * (sum / others), 0.0);
  }
  if (!(norms > 0)) return 0;
  return std::sqrt(variances / static_cast<double>(asked)) / std::sqrt(norms / static_cast<double>(count));
}

HalfBytes half_bytes_of(std::span<const float> rows, std::span<const float> centre, double clip_range) {
  constexpr double most = spi::most_half_byte, shares[] = {1, 0.85, 0.7, 0.6, 0.5, 0.4, 0.3};
  constexpr std::size_t most_numbers = std::size_t{1} << 17;
  const std::size_t dims = centre.size();
  if (dims == 0 || rows.empty() || !(clip_range > 0)) return {};
  const std::size_t count = std::clamp<std::size_t>(most_numbers / dims, 1, rows.size() / dims);
  HalfBytes best;
  for (const double share : shares) {
    const double step = share * clip_range / most;
    double squares = 0;
    for (std::size_t i = 0; i < count * dims; ++i) {
      const double moved = static_cast<double>(rows[i]) - static_cast<double>(centre[i % dims]);
      const double apart = moved - step * std::clamp(std::round(moved / step), -most, most);
      squares += apart * apart;
    }
    const double off = std::sqrt(squares / static_cast<double>(count));
    if (best.range == 0 || off < best.off) best = {share * clip_range, off};
  }
  return best;
}

}  // namespace kith
