// Measures seconds by the host's clock, and their median.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <vector>

namespace kith::workloads {

/// Counts seconds from its construction.
class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

inline constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// Returns the median: the mean of the two middle samples if their number is even; NaN without samples.
inline double median(std::vector<double> samples) {
  if (samples.empty()) return not_measured;
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(samples.begin(), middle)) / 2;
}

}  // namespace kith::workloads
