#include "certified/spread.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

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

}  // namespace kith
