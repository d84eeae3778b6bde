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
#include "rows/prepared/metric_parameters.hpp"

namespace kith {

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

}  // namespace kith
