// Counts votes, and sums by classes.
#include <algorithm>
#include <cmath>

#include "check/plain/plain_memory.hpp"
#include "check/plain/plain_steps.hpp"

namespace kith::spi {

void plain(const VoteStep& s) {
  const std::uint32_t* const labels = row_of_grid(s.labels, 0);
  for (std::size_t q = 0; q < s.nearest.rows; ++q) {
    std::uint32_t* const counts = row_of_grid(s.counts, q);
    std::fill(counts, counts + s.classes, 0u);
    bool voted = false;
    for (std::size_t j = 0; j < s.nearest.cols; ++j) {
      const Key key = row_of_grid(s.nearest, q)[j];
      if (key == no_key) continue;
      ++counts[labels[kith::row_of(key)]];
      voted = true;
    }
    const auto most = std::max_element(counts, counts + s.classes) - counts;
    *row_of_grid(s.winner, q) = voted ? static_cast<std::uint32_t>(most) : no_row;
  }
}

void plain(const ScoreStep& s) {
  for (std::size_t q = 0; q < s.nearest.rows; ++q) {
    float* const sums = row_of_grid(s.sums, q);
    std::fill(sums, sums + s.classes, 0.0f);
    for (std::size_t j = 0; j < s.nearest.cols; ++j) {
      const Key key = row_of_grid(s.nearest, q)[j];
      if (key != no_key) sums[row_of_grid(s.labels, 0)[kith::row_of(key)]] += row_of_grid(s.weights, q)[j];
    }
  }
}

void plain(const AccumulateStep& s) {
  for (std::size_t q = 0; q < s.distances.rows; ++q)
    for (std::size_t t = 0; t < s.distances.cols; ++t) {
      const std::size_t c = row_of_grid(s.labels, 0)[t];
      float x = row_of_grid(s.distances, q)[t];
      if (x == 0) x = 0;  // makes -0 +0
      float &smallest = row_of_grid(s.smallest, q)[c], &high = row_of_grid(s.high, q)[c],
            &low = row_of_grid(s.low, q)[c];
      smallest = std::fmin(smallest, x);
      const float sum = high + x;
      // The rounding error of a sum is a float, and one subtraction from the larger addend gives it
      // (Dekker 1971).
      if (std::isfinite(sum)) low += std::fabs(high) >= std::fabs(x) ? x - (sum - high) : high - (sum - x);
      high = sum;
    }
}

}  // namespace kith::spi
