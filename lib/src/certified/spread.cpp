#include "certified/spread.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/numbers.hpp"
#include "kith/spi/byte_grid.hpp"

namespace kith {
namespace {

/// Takes several sums, so that none waits for the one before.
double squared_distance(std::span<const float> a, std::span<const float> b) {
  constexpr std::size_t at_once = 8;
  double sums[at_once] = {};
  const auto add = [&](std::size_t d, double& sum) {
    const double apart = static_cast<double>(a[d]) - static_cast<double>(b[d]);
    sum += apart * apart;
  };
  std::size_t d = 0;
  for (; d + at_once <= a.size(); d += at_once)
    for (std::size_t i = 0; i < at_once; ++i) add(d + i, sums[i]);
  for (; d < a.size(); ++d) add(d, sums[0]);
  return std::accumulate(sums, sums + at_once, 0.0);
}

/// Adds to a sum for each column the square of what half bytes change there, in steps, of which one is
/// 1 / `steps`. No value is many steps from the centre. The loop is branch-free, so that it vectorises.
void add_changes(std::span<const float> row, std::span<const float> centre, double steps,
                 std::span<double> squares) {
  constexpr double most = spi::most_half_byte, to_whole = 0x1.8p52;  // adding and subtracting it rounds
  for (std::size_t d = 0; d < row.size(); ++d) {
    const double moved = (static_cast<double>(row[d]) - static_cast<double>(centre[d])) * steps;
    const double inside =
        (std::fabs(moved + most) - std::fabs(moved - most)) / 2;  // std::clamp(), by vectors
    const double apart = moved - ((inside + to_whole) - to_whole);
    squares[d] += apart * apart;
  }
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
  std::vector<double> squares(dims);
  for (const double share : shares) {
    const double steps = most / (share * clip_range);
    std::fill(squares.begin(), squares.end(), 0.0);
    for (std::size_t i = 0; i < count; ++i) add_changes(rows.subspan(i * dims, dims), centre, steps, squares);
    const double sum = std::accumulate(squares.begin(), squares.end(), 0.0),
                 off = std::sqrt(sum / static_cast<double>(count)) / steps;
    if (best.range == 0 || off < best.off) best = {share * clip_range, off};
  }
  return best;
}

}  // namespace kith
