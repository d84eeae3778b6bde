#include "rows/prepared/prepared_metric.hpp"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>
#include <utility>

#include "base/float_guard.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"
#include "metric/roots.hpp"
#include "rows/landed/places.hpp"

namespace kith {
namespace {

bool is_constant(std::span<const double> row) {
  return std::all_of(row.begin(), row.end(), [&](double value) { return value == row.front(); });
}

void subtract_mean(std::span<double> row) {
  double sum = 0;
  for (const double value : row) sum += value;
  const double mean = sum / static_cast<double>(row.size());
  for (double& value : row) value -= mean;
}

/// Replaces values by their ranks, the mean of ranks where values are equal, less the mean of all ranks. All
/// of these are whole numbers or halves, and exact.
void rank_values(std::span<double> row, std::span<double> sorted) {
  std::copy(row.begin(), row.end(), sorted.begin());
  std::sort(sorted.begin(), sorted.end());
  const double mean = (static_cast<double>(row.size()) + 1) / 2;
  for (double& value : row) {
    const auto [first, end] = std::equal_range(sorted.begin(), sorted.end(), value);
    const auto below = static_cast<double>(first - sorted.begin()), equal = static_cast<double>(end - first);
    value = below + (equal + 1) / 2 - mean;
  }
}

int halves_of(double p) {
  return static_cast<int>(2 * p);
}

Cholesky factored(std::string_view name, std::span<const double> matrix,
                  std::span<const std::int64_t> features) {
  Cholesky factor(matrix, static_cast<std::int64_t>(features.size()));
  if (factor.failed() < static_cast<std::int64_t>(features.size()))
    refuse("index", std::string(name) + " is not positive definite: its rows and columns up to column " +
                        std::to_string(features[size(factor.failed())]) +
                        " are not; leave out columns that follow from others, or add to the diagonal");
  return factor;
}

}  // namespace

PreparedMetric::PreparedMetric(Metric metric, MetricParameters parameters,
                               std::span<const std::int64_t> features)
    : metric_(metric), parameters_(std::move(parameters)), features_(features.begin(), features.end()) {
  const FloatGuard guard;
  const MetricParameters& given = parameters_;
  check_parameters(metric_, given, features);
  factors_ = given.column_weights.empty() ? given.variances : given.column_weights;
  for (double& factor : factors_)
    factor = metric_ == Metric::minkowski ? rounded_root(factor, halves_of(given.p.front()))
             : metric_ == Metric::l1      ? factor
                                          : std::sqrt(factor);
  if (!given.covariance.empty()) cholesky_ = factored("covariance", given.covariance, features);
  if (!given.inverse_covariance.empty())
    cholesky_ = factored("inverse_covariance", given.inverse_covariance, features);
}

std::vector<double> PreparedMetric::terms() const {
  constexpr double category = 0, number = std::numeric_limits<double>::infinity();
  std::vector<double> terms(features_.size(), category);
  switch (metric_) {
    case Metric::minkowski:
      std::fill(terms.begin(), terms.end(), -halves_of(parameters_.p.front()));
      return terms;
    case Metric::canberra:
      std::fill(terms.begin(), terms.end(), static_cast<double>(canberra_term));
      return terms;
    case Metric::gower:
    case Metric::nan_gower:
      for (std::size_t d = 0; d < terms.size(); ++d)
        if (parameters_.categorical[d] == 0) terms[d] = number;
      if (std::find(terms.begin(), terms.end(), category) == terms.end()) return {};  // all are differences
      return terms;
    case Metric::matching:
      return terms;
    default:
      return {};
  }
}

ShownBy PreparedMetric::shown() const {
  if (metric_ == Metric::minkowski) return {metric_, parameters_.p.front()};
  return {metric_, shows_by_parameter(metric_) ? static_cast<double>(features_.size()) : 0.0};
}

bool PreparedMetric::change_row(std::span<double> row, std::span<double> spare) const {
  switch (metric_) {
    case Metric::correlation:
      if (is_constant(row)) return false;
      subtract_mean(row);
      return true;
    case Metric::spearman:
      if (is_constant(row)) return false;
      rank_values(row, spare);
      return true;
    case Metric::angular:
    case Metric::matching:
    case Metric::canberra:
      return true;
    case Metric::gower:
    case Metric::nan_gower:
      for (std::size_t d = 0; d < row.size(); ++d)
        if (parameters_.categorical[d] == 0 && !std::isnan(row[d]))
          row[d] = parameters_.ranges[d] == 0 ? 0 : row[d] / parameters_.ranges[d];
      return true;
    case Metric::haversine:
      return to_sphere(row, parameters_.degrees);
    case Metric::hellinger:
      if (std::any_of(row.begin(), row.end(), [](double value) { return value < 0; })) return false;
      for (double& value : row) value = std::sqrt(value / 2);
      return true;
    case Metric::mahalanobis:
      if (parameters_.covariance.empty())
        cholesky_->multiply(row, spare);
      else
        cholesky_->solve(row);
      return true;
    case Metric::seuclidean:
      for (std::size_t d = 0; d < row.size(); ++d) row[d] /= factors_[d];
      return true;
    default:
      for (std::size_t d = 0; d < factors_.size(); ++d) row[d] *= factors_[d];
      return true;
  }
}

std::size_t PreparedMetric::first_wrong(std::span<const double> row, double most) const {
  const bool categories = metric_ == Metric::matching || takes_categories(metric_);
  if (!categories && metric_ != Metric::canberra) return row.size();
  for (std::size_t d = 0; d < row.size(); ++d) {
    if (std::isnan(row[d])) continue;  // missing
    const bool is_category = metric_ == Metric::matching || (categories && parameters_.categorical[d] != 0);
    if (is_category && most == FLT_MAX && static_cast<double>(static_cast<float>(row[d])) != row[d]) return d;
    if (!categories && std::fabs(row[d]) > largest_prepared(metric_, most)) return d;
  }
  return row.size();
}

std::string PreparedMetric::why_not(std::string_view what, std::int64_t number, std::span<const double> row,
                                    double most) const {
  const std::string named(name(metric_));
  if (const std::size_t d = first_wrong(row, most); d < row.size())
    return place_text(what, number, features_[d]) + " holds " + text_of(row[d]) +
           (metric_ == Metric::canberra
                ? ", beyond half of the largest number, so that sums may overflow; scale all columns"
                : std::string(", a category which no float equals; ") +
                      (is_of_sums(metric_) ? "" : "choose arithmetic f64, or ") + "number the categories");
  if (metric_ == Metric::hellinger) {
    const auto below = std::find_if(row.begin(), row.end(), [](double value) { return value < 0; });
    return place_text(what, number, features_[size(below - row.begin())]) + " holds " + text_of(*below) +
           ", below 0; give 0 or more for hellinger, or leave the row out";
  }
  if (metric_ == Metric::haversine) return why_no_place(what, number, row, parameters_.degrees);
  return std::string(what) + " row " + std::to_string(number) + " holds " + text_of(row.front()) +
         " in each column that counts, so that it correlates with no row; leave it out for " + named;
}

void PreparedMetric::change(std::string_view where, std::string_view what, Doubles& values,
                            std::int64_t first_row, double most, std::uint32_t threads) const {
  if (metric_ == Metric::haversine) values = with_third_column(values);
  const std::span<double> rows = values;
  const std::size_t dims = this->dims();
  const auto all = static_cast<std::int64_t>(rows.size() / dims);
  constexpr std::int64_t share_values = 1 << 14;
  const std::int64_t a_share = std::max<std::int64_t>(1, share_values / static_cast<std::int64_t>(dims));
  enum class Why { not_taken, too_large, no_direction };
  struct Wrong {
    std::int64_t row;
    Why why;
  };
  std::vector<Wrong> wrong(size(divide_up(all, a_share)), {all, Why::not_taken});  // the first of each share
  const auto row_at = [&](std::int64_t r) { return rows.subspan(size(r) * dims, dims); };
  const bool gaps = takes_gaps(metric_);
  const auto is_wrong = [&](double value) {
    return !(std::fabs(value) <= most) && !(gaps && std::isnan(value));
  };
  const double least = most == FLT_MAX ? 0x1p-150 : 0;  // what is not above it becomes 0
  const bool needs_direction = prepare_of(chain_metric(metric_)) == Prepare::unit_rows;
  const auto has_direction = [&](std::span<const double> row) {
    return std::any_of(row.begin(), row.end(), [&](double value) { return std::fabs(value) > least; });
  };
  constexpr std::size_t work_of_angle = 256;
  const auto work = static_cast<std::int64_t>(rows.size() * (cholesky_                      ? dims
                                                             : metric_ == Metric::haversine ? work_of_angle
                                                                                            : 1));
  parallel_for(static_cast<std::int64_t>(wrong.size()), work, threads, [&](std::int64_t share) {
    std::vector<double> spare(dims);
    for (std::int64_t r = share * a_share; r < std::min(all, (share + 1) * a_share); ++r) {
      const std::span<double> row = row_at(r);
      if (!change_row(row, spare) || first_wrong(row, most) < row.size())
        wrong[size(share)] = {r, Why::not_taken};
      else if (std::any_of(row.begin(), row.end(), is_wrong))
        wrong[size(share)] = {r, Why::too_large};
      else if (needs_direction && !has_direction(row))
        wrong[size(share)] = {r, Why::no_direction};
      else
        continue;
      return;
    }
  });
  const auto first =
      std::find_if(wrong.begin(), wrong.end(), [&](const Wrong& one) { return one.row < all; });
  if (first == wrong.end()) return;
  const std::span<const double> row = row_at(first->row);
  if (first->why == Why::not_taken) refuse(where, why_not(what, first_row + first->row, row, most));
  if (first->why == Why::no_direction)
    refuse(where, std::string(what) + " row " + std::to_string(first_row + first->row) +
                      " is all zeros in the columns that count, which has no direction; leave it out for " +
                      std::string(name(metric_)));
  const auto large = std::find_if(row.begin(), row.end(), is_wrong);
  refuse(where, place_text(what, first_row + first->row, features_[size(large - row.begin())]) + " is " +
                    text_of(*large) + " when it is prepared for " + std::string(name(metric_)) + ", beyond " +
                    text_of(most) + "; leave the row out, or scale the columns");
}

std::shared_ptr<const PreparedMetric> prepared_metric_of(
    const IndexOptions& options, Metric metric, std::int64_t columns, std::span<const std::int64_t> features,
    const std::function<std::vector<double>()>& variances,
    const std::function<std::vector<double>()>& ranges) {
  if (!asks_for_prepared_metric(options, metric)) return nullptr;
  return std::make_shared<const PreparedMetric>(
      metric, asked_parameters(options, metric, columns, features, variances, ranges), features);
}

}  // namespace kith
