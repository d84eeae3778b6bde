// The parameters of prepared metrics and weights of columns (docs/contract.md, section 1): which there are,
// and what is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "kith/metric.hpp"
#include "kith/options.hpp"

namespace kith {

/// The parameters of a metric, as IndexOptions has them.
struct MetricParameters {
  std::vector<double> column_weights, variances, covariance, inverse_covariance, p;
  std::vector<double> categorical;  ///< 1 of columns that hold categories, 0 of others
  std::vector<double> ranges;       ///< by which differences of other columns are divided; 0: they count 0
  bool degrees = false;
};

struct MetricParameter {
  std::string_view name, section;  ///< section of an index file
  std::vector<double> MetricParameters::*values;
  std::vector<double> IndexOptions::*asked;  ///< null: asked for by an option that is no list of doubles
  bool is_matrix;
  bool is_one = false;  ///< a single value

  /// Returns the number of values for so many columns.
  std::size_t count(std::int64_t columns) const {
    const auto one = static_cast<std::size_t>(columns);
    return is_one ? 1 : is_matrix ? one * one : one;
  }
};

inline constexpr MetricParameter metric_parameters[] = {
    {"column_weights", "column_weights", &MetricParameters::column_weights, &IndexOptions::column_weights,
     false},
    {"variances", "variances", &MetricParameters::variances, &IndexOptions::variances, false},
    {"covariance", "covariance", &MetricParameters::covariance, &IndexOptions::covariance, true},
    {"inverse_covariance", "inverse_cov", &MetricParameters::inverse_covariance,
     &IndexOptions::inverse_covariance, true},
    {"p", "p", &MetricParameters::p, nullptr, false, true},
    {"categorical", "categorical", &MetricParameters::categorical, nullptr, false},
    {"ranges", "ranges", &MetricParameters::ranges, &IndexOptions::ranges, false},
};

/// Columns of rows for haversine, latitude and longitude, and of what they become: points of the unit sphere.
inline constexpr std::int64_t haversine_columns = 2, sphere_columns = 3;

/// Returns the options without p, for a metric that minkowski is by p.
inline IndexOptions without_p(const IndexOptions& options) {
  IndexOptions others = options;
  others.p = 0;
  return others;
}

/// Returns whether a metric or its options ask for rows that are prepared.
bool asks_for_prepared_metric(const IndexOptions& options, Metric metric);

/// Returns the parameters of the columns that count. The arguments are those of prepared_metric_of().
MetricParameters asked_parameters(const IndexOptions& options, Metric metric, std::int64_t columns,
                                  std::span<const std::int64_t> features,
                                  const std::function<std::vector<double>()>& variances,
                                  const std::function<std::vector<double>()>& ranges);

/// Throws invalid_argument for a value which is no parameter (names its place).
///   features  the columns that count, ascending: their numbers in messages
void check_parameters(Metric metric, const MetricParameters& given, std::span<const std::int64_t> features);

}  // namespace kith
