// Prepared metrics and weights of columns (docs/contract.md, section 1): each row and each query is changed
// on the host, in double precision, and a metric of metrics.def then compares what it became.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kith/metric.hpp"
#include "kith/options.hpp"
#include "metric/cholesky.hpp"
#include "rows/doubles/prepared_doubles.hpp"

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

/// Returns the number of columns of prepared rows; of rows of `columns` columns.
constexpr std::int64_t prepared_columns(Metric metric, std::int64_t columns) {
  return metric == Metric::haversine ? sphere_columns : columns;
}
/// Returns the number of columns of rows as they are given, from that of prepared rows.
constexpr std::int64_t given_columns(Metric metric, std::int64_t columns) {
  return metric == Metric::haversine ? haversine_columns : columns;
}

/// Returns the largest magnitude that a prepared value may have: sums of two may not overflow by canberra.
///   most  that of the arithmetic
constexpr double largest_prepared(Metric metric, double most) {
  return metric == Metric::canberra ? most / 2 : most;
}

class PreparedMetric {
 public:
  ///   metric      as the caller named it
  ///   parameters  of the columns that count: [dims] each, and [dims, dims]
  ///   features    the columns that count, ascending: their numbers in messages
  /// Throws as prepared_metric_of() does.
  PreparedMetric(Metric metric, MetricParameters parameters, std::span<const std::int64_t> features);

  Metric metric() const { return metric_; }
  const MetricParameters& parameters() const { return parameters_; }
  /// Returns the parameters of ColumnTerms, [dims]; empty: the chain takes differences.
  std::vector<double> terms() const;
  /// Returns the metric as raw values are shown by it.
  ShownBy shown() const;

  /// Changes rows. Must run under FloatGuard.
  ///   rows       [n, dims]  the columns that count, finite, or NaN if the metric takes gaps; out:
  ///              [n, prepared_columns(dims)]
  ///   first_row  the number of row 0 in messages
  ///   most       the largest magnitude that a value may have
  /// Throws invalid_argument: a row that the metric does not take, or a value that becomes too large (names
  /// the first).
  void change(std::string_view where, std::string_view what, Doubles& rows, std::int64_t first_row,
              double most, std::uint32_t threads) const;

 private:
  std::size_t dims() const {
    return static_cast<std::size_t>(prepared_columns(metric_, static_cast<std::int64_t>(features_.size())));
  }
  /// Changes one row, of haversine its first two values to three; `spare` has memory for another. Returns
  /// false if the metric does not take it.
  bool change_row(std::span<double> row, std::span<double> spare) const;
  /// Returns the first value that has a category which is no float, or which is too large for canberra; the
  /// number of values if there is none.
  std::size_t first_wrong(std::span<const double> row, double most) const;
  /// Returns why change_row() or first_wrong() did not take a row, as the caller gave it.
  std::string why_not(std::string_view what, std::int64_t number, std::span<const double> row,
                      double most) const;

  const Metric metric_;
  const MetricParameters parameters_;
  const std::vector<std::int64_t> features_;
  std::vector<double> factors_;  ///< [dims]  by which columns are multiplied, or for seuclidean divided
  std::optional<Cholesky> cholesky_;
};

/// Returns how rows are changed; null if the metric is one of metrics.def, and no column has a weight.
///   columns    of the rows as they are given
///   features   those that count
///   variances  returns those of the columns that count, of the rows
///   ranges     returns those of the training rows, [columns], for metrics of categories without ranges
/// Throws invalid_argument: a parameter that is missing, of another metric or of another length, or that has
/// a value which is no parameter (names its place); a centre or a box beside it.
std::shared_ptr<const PreparedMetric> prepared_metric_of(
    const IndexOptions& options, Metric metric, std::int64_t columns, std::span<const std::int64_t> features,
    const std::function<std::vector<double>()>& variances,
    const std::function<std::vector<double>()>& ranges);

/// Returns the options without p, for a metric that minkowski is by p.
inline IndexOptions without_p(const IndexOptions& options) {
  IndexOptions others = options;
  others.p = 0;
  return others;
}

/// Returns whether prepared_metric_of() would not return null.
bool asks_for_prepared_metric(const IndexOptions& options, Metric metric);

}  // namespace kith
