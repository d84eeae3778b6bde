#include "certified/row_sample.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "plan/product_bounds.hpp"

namespace kith {

std::int64_t sample_stride(std::int64_t rows) {
  constexpr std::int64_t most_samples = 4096;
  return divide_up(rows, most_samples);
}

bool has_centre(Metric metric) {
  return metric != Metric::negative_dot && metric != Metric::cosine && follows_from_products(metric);
}

RowSample::RowSample(std::int64_t dims)
    : sum_(size(dims)),
      least_(size(dims), std::numeric_limits<float>::infinity()),
      most_(size(dims), -std::numeric_limits<float>::infinity()) {}

void RowSample::add(MatrixView<const float> rows, std::int64_t first, std::int64_t stride) {
  const FloatGuard guard;
  for (std::int64_t r = divide_up(first, stride) * stride - first; r < rows.rows(); r += stride, ++samples_)
    for (std::size_t d = 0; d < sum_.size(); ++d) {
      const float value = rows.row(r)[d];
      sum_[d] += static_cast<double>(value);
      whole_ = whole_ && value == std::trunc(value);
      least_[d] = std::min(least_[d], value);
      most_[d] = std::max(most_[d], value);
      values_.add(value);
    }
}

std::vector<float> RowSample::centre(Metric metric) const {
  std::vector<float> centre(sum_.size());
  if (!has_centre(metric)) return centre;
  const FloatGuard guard;
  for (std::size_t d = 0; d < sum_.size(); ++d) {
    const double mean = sum_[d] / static_cast<double>(samples_);
    centre[d] = static_cast<float>(whole_ ? std::round(mean) : mean);
  }
  return centre;
}

double RowSample::clip_range(const std::vector<float>& centre) const {
  const FloatGuard guard;
  double most = 0;
  for (std::size_t d = 0; d < centre.size(); ++d)
    for (const float value : {least_[d], most_[d]})
      most = std::max(most, std::fabs(static_cast<double>(value) - static_cast<double>(centre[d])));
  return most;
}

}  // namespace kith
