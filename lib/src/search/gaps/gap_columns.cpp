#include "search/gaps/gap_columns.hpp"

#include <algorithm>
#include <cmath>

#include "base/numbers.hpp"
#include "kith/spi/product_error.hpp"

namespace kith {
namespace {

/// A value beyond so many spreads of its column counts as one that is so far: bytes then tell others apart.
constexpr double spreads = 3;

double power_of_two_near(double x) {
  constexpr double most = 200;
  return std::exp2(std::clamp(std::round(std::log2(x)), -most, most));
}

/// Returns the values of a column that are there.
std::vector<double> known_values(MatrixView<const float> rows, std::int64_t d) {
  std::vector<double> known;
  for (std::int64_t r = 0; r < rows.rows(); ++r)
    if (!std::isnan(rows(r, d))) known.push_back(rows(r, d));
  return known;
}

/// Returns the mean square of all but the largest 1/256 of them, which may be far from all others; of all, if
/// it is 0 otherwise. Sorts them.
double mean_square(std::vector<double>& values) {
  for (double& value : values) value = std::fabs(value);
  std::sort(values.begin(), values.end());
  const auto sum_to = [&](std::size_t end) {
    double sum = 0;
    for (std::size_t i = 0; i < end; ++i) sum += values[i] * values[i];
    return sum / static_cast<double>(std::max<std::size_t>(end, 1));
  };
  const double most = sum_to(values.size() - values.size() / 256);
  return most > 0 ? most : sum_to(values.size());
}

}  // namespace

GapColumns::GapColumns(MatrixView<const float> sample)
    : centre_(size(sample.cols())), limit_(size(sample.cols())) {
  find_spread(sample);
  balance_parts(sample);
}

void GapColumns::find_spread(MatrixView<const float> sample) {
  std::vector<double> square;
  double sum = 0;
  for (std::int64_t d = 0; d < dims(); ++d) {
    std::vector<double> known = known_values(sample, d);
    if (!known.empty()) {
      const auto middle = known.begin() + static_cast<std::ptrdiff_t>(known.size() / 2);
      std::nth_element(known.begin(), middle, known.end());
      centre_[size(d)] = *middle;
    }
    for (double& value : known) value -= centre_[size(d)];
    sum += square.emplace_back(mean_square(known));
  }
  const double all = sum / static_cast<double>(dims());
  if (all > 0) scale_ = 1 / power_of_two_near(std::sqrt(all));
  for (std::int64_t d = 0; d < dims(); ++d) {
    const double spread = std::sqrt(std::max({square[size(d)], all, 0x1p-290}));
    limit_[size(d)] = static_cast<float>(std::min(spreads * spread * scale_, 0x1p20));
  }
}

/// Brings the three parts into one range, by the largest value of the sample.
void GapColumns::balance_parts(MatrixView<const float> sample) {
  for (std::int64_t r = 0; r < sample.rows(); ++r)
    for (std::int64_t d = 0; d < dims(); ++d)
      if (!std::isnan(sample(r, d))) largest_ = std::max(largest_, std::fabs(moved(sample(r, d), d)));
  if (largest_ == 0) return;
  // These make the bound of bytes about least: its error is that of one side's scale times the norm of the
  // other side.
  const auto most = static_cast<double>(largest_);
  of_there_ = static_cast<float>(power_of_two_near(0.6 * most));
  of_square_ = static_cast<float>(power_of_two_near(0.8 / most));
}

float GapColumns::moved(float value, std::int64_t d) const {
  const double limit = static_cast<double>(limit_[size(d)]);
  return static_cast<float>(
      std::clamp(scale_ * (static_cast<double>(value) - centre_[size(d)]), -limit, limit));
}

void GapColumns::extend_row(const float* row, float* to) const {
  bool is_empty = true;
  for (std::int64_t d = 0; d < dims(); ++d) {
    const bool is_there = !std::isnan(row[d]);
    const float x = is_there ? moved(row[d], d) : 0;
    to[d] = of_square_ * (x * x);
    to[dims() + d] = x;
    to[2 * dims() + d] = is_there ? of_there_ : 0;
    is_empty = is_empty && !is_there;
  }
  for (std::int64_t d = 0; is_empty && d < dims(); ++d) to[d] = of_square_ * (largest_ * largest_);
}

GapQuery GapColumns::extend_query(const float* query, double threshold, float* to) const {
  GapQuery told;
  told.threshold = std::clamp(threshold, 0.0, 0x1p44);
  double square = 0;
  for (std::int64_t d = 0; d < dims(); ++d) {
    const bool is_there = !std::isnan(query[d]);
    const float y = is_there ? moved(query[d], d) : 0;
    const double its = static_cast<double>(y) * static_cast<double>(y);
    square += its;
    told.known += is_there ? 1 : 0;
    to[d] = is_there ? -1 / of_square_ : 0;
    to[dims() + d] = 2 * y;
    to[2 * dims() + d] = is_there ? static_cast<float>(told.threshold - its) / of_there_ : 0;
  }
  told.norm = std::sqrt(square);
  return told;
}

double GapColumns::threshold_of(double value) const {
  return scale_ * scale_ * value / static_cast<double>(dims());
}

float GapColumns::bound(const GapQuery& query, float value) const {
  if (std::isinf(value)) return value;
  constexpr double u = 0x1p-24, least = 0x1p-149, lost = 0x1p-120;  // least: subnormal; lost: by a part
  const auto n = static_cast<double>(dims()), known = static_cast<double>(query.known);
  const auto error_of = [](double operations) { return operations * u / (1 - operations * u); };
  const double squares =
      ((static_cast<double>(value) + least) / (1 - 2 * u) + n * n * least) / (1 - error_of(n + 2));
  const double most = scale_ * scale_ * squares, radius = std::sqrt(most);  // if all columns are common
  const double rounded = u * (1 + 0x1p-20) * (2.001 * query.norm + radius) + n * least;
  const double far = 2 * query.norm + radius + rounded;
  const double magnitude = far * far + known * query.threshold;
  const double beyond = known * std::max(0.0, most / n - query.threshold);
  const double error = 2 * radius * rounded + rounded * rounded +
                       (error_of(gap_parts * n) + 2 * u) * (1 + 4 * u) * magnitude + n * lost;
  const double above = (beyond + error) * (1 + 0x1p-40) + 0x1p-40 * known * query.threshold;
  return spi::float_above(above);
}

}  // namespace kith
