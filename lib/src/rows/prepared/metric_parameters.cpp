#include "rows/prepared/metric_parameters.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "metric/roots.hpp"

namespace kith {
namespace {

/// The symmetric part of a matrix counts. So much may two values that should be equal differ, beside the root
/// of the product of their values on the diagonal: inverses by other libraries are not quite symmetric.
constexpr double most_asymmetry = 0x1p-20;

std::string columns_text(std::int64_t columns) {
  return std::to_string(columns) + (columns == 1 ? " column" : " columns");
}

/// Refuses another number of values than one for each column, or each pair of columns.
void check_length(const MetricParameter& one, std::size_t given, std::int64_t columns) {
  if (given == one.count(columns)) return;
  refuse("index",
         std::string(one.name) + " has " + std::to_string(given) + (given == 1 ? " value" : " values") +
             " for rows of " + columns_text(columns) +
             (one.is_matrix ? "; give one for each pair of columns, row by row" : "; give one a column"));
}

/// Returns the values of the columns, or pairs of columns, that count.
std::vector<double> counting(const std::vector<double>& given, std::int64_t columns, bool matrix,
                             std::span<const std::int64_t> features) {
  std::vector<double> kept;
  for (const std::int64_t i : features) {
    if (!matrix) kept.push_back(given[size(i)]);
    for (std::size_t j = 0; matrix && j < features.size(); ++j)
      kept.push_back(given[size(i) * size(columns) + size(features[j])]);
  }
  return kept;
}

/// Refuses a value for a column: the metric needs one that is finite and above 0, or for weights 0 or more.
void check_of_columns(std::string_view name, std::span<const double> values,
                      std::span<const std::int64_t> features, bool may_be_0) {
  for (std::size_t d = 0; d < values.size(); ++d)
    if (!std::isfinite(values[d]) || values[d] < 0 || (values[d] == 0 && !may_be_0))
      refuse("index", std::string(name) + " of column " + std::to_string(features[d]) + " is " +
                          text_of(values[d]) + "; give a finite number" +
                          (may_be_0 ? ", 0 or more" : " above 0, or leave the column out (features)"));
}

/// Refuses a flag of a column, as a file may have it, that is neither 1 for categories nor 0 for numbers.
void check_flags(std::span<const double> flags, std::span<const std::int64_t> features) {
  for (std::size_t d = 0; d < flags.size(); ++d)
    if (flags[d] != 0 && flags[d] != 1)
      refuse("index", "categorical of column " + std::to_string(features[d]) + " is " + text_of(flags[d]) +
                          "; give 1 for categories, or 0 for numbers");
}

std::string entry_text(std::string_view name, std::int64_t i, std::int64_t j, double value) {
  return std::string(name) + "[" + std::to_string(i) + ", " + std::to_string(j) + "] is " + text_of(value);
}

void check_matrix(std::string_view name, std::span<const double> matrix,
                  std::span<const std::int64_t> features) {
  const std::size_t dims = features.size();
  for (std::size_t i = 0; i < dims; ++i)
    for (std::size_t j = 0; j < dims; ++j) {
      const double value = matrix[i * dims + j], other = matrix[j * dims + i];
      if (!std::isfinite(value))
        refuse("index", entry_text(name, features[i], features[j], value) + "; give finite numbers");
      const double size_of_both =
          std::sqrt(std::fabs(matrix[i * dims + i])) * std::sqrt(std::fabs(matrix[j * dims + j]));
      if (j < i && !(std::fabs(value - other) <= most_asymmetry * size_of_both))
        refuse("index", entry_text(name, features[j], features[i], other) + " and " +
                            entry_text("", features[i], features[j], value) +
                            ", but the matrix must be symmetric; give (M + M.T) / 2 if it is meant");
    }
}

void check_p(double p) {
  if (is_power(p)) return;
  refuse("index", "minkowski with p = " + text_of(p) + "; choose 0.5, 1, 1.5 and so on up to 8, or infinity");
}

/// Refuses options of minkowski and of metrics of categories beside other metrics, and a p that minkowski
/// lacks.
void check_terms(Metric metric, const IndexOptions& options) {
  const std::string named(name(metric));
  if (options.p != 0 && metric != Metric::minkowski)
    refuse("index", "p is " + text_of(options.p) + ", which minkowski takes, but the metric is " + named +
                        "; leave it out, or choose minkowski");
  if (metric == Metric::minkowski && options.p == 0)
    refuse("index", "minkowski without p; give one, such as 3");
  if ((!options.categorical.empty() || !options.ranges.empty()) && !takes_categories(metric))
    refuse("index", std::string("there are ") +
                        (options.ranges.empty() ? "categorical columns" : "ranges of columns") +
                        ", which gower and nan_gower take, but the metric is " + named +
                        (metric == Metric::matching ? ", by which all columns are categorical" : "") +
                        "; leave them out, or choose one of these");
}

/// Returns 1 for each column that is named, and 0 for the others.
std::vector<double> flags_of(const std::vector<std::int64_t>& named, std::int64_t columns) {
  std::vector<double> flags(size(columns));
  for (const std::int64_t column : named) {
    const bool known = column >= 0 && column < columns;
    if (!known || flags[size(column)] != 0)
      refuse("index", "categorical names column " + std::to_string(column) +
                          (known ? " twice; name each once"
                                 : ", but rows have " + columns_text(columns) + "; choose from 0 to " +
                                       std::to_string(columns - 1)));
    flags[size(column)] = 1;
  }
  return flags;
}

/// Refuses a parameter that the metric does not take, and the lack of one that it needs.
void check_which(Metric metric, const IndexOptions& options) {
  const bool has_v = !options.covariance.empty(), has_vi = !options.inverse_covariance.empty();
  const std::string named(name(metric));
  if (!options.column_weights.empty() && !takes_column_weights(metric))
    refuse("index",
           "there are column_weights, but " + named +
               " is none of l1, l2, squared_l2 and minkowski; leave them out, or choose one of these");
  if (!options.variances.empty() && metric != Metric::seuclidean)
    refuse("index", "there are variances, which seuclidean takes, but the metric is " + named +
                        "; leave them out, or choose seuclidean");
  if ((has_v || has_vi) && metric != Metric::mahalanobis)
    refuse("index", std::string("there is ") + (has_v ? "a covariance" : "an inverse_covariance") +
                        ", which mahalanobis takes, but the metric is " + named +
                        "; leave it out, or choose mahalanobis");
  if (options.degrees && metric != Metric::haversine)
    refuse("index", "degrees are asked for, which haversine takes, but the metric is " + named +
                        "; leave them out, or choose haversine");
  if (metric == Metric::mahalanobis && has_v == has_vi)
    refuse("index",
           std::string("mahalanobis with ") +
               (has_v ? "both a covariance and its inverse" : "neither a covariance nor its inverse") +
               "; give one of covariance and inverse_covariance");
  check_terms(metric, options);
  if (!options.centre.empty() || options.learn_centre || !options.box.empty())
    refuse("index", std::string("there is a ") + (options.box.empty() ? "centre" : "box") +
                        ", and rows are " +
                        (options.column_weights.empty() ? "prepared for " + named : "weighted") +
                        " already; leave one of them out");
}

}  // namespace

bool asks_for_prepared_metric(const IndexOptions& options, Metric metric) {
  return is_prepared(metric) || options.degrees || options.p != 0 || !options.categorical.empty() ||
         std::any_of(std::begin(metric_parameters), std::end(metric_parameters),
                     [&](const MetricParameter& one) { return one.asked && !(options.*one.asked).empty(); });
}

MetricParameters asked_parameters(const IndexOptions& options, Metric metric, std::int64_t columns,
                                  std::span<const std::int64_t> features,
                                  const std::function<std::vector<double>()>& variances,
                                  const std::function<std::vector<double>()>& ranges) {
  check_which(metric, options);
  if (metric == Metric::haversine && columns != haversine_columns)
    refuse("index", "haversine is for rows of 2 columns, latitude and longitude, but these have " +
                        columns_text(columns) + "; give these two");
  MetricParameters parameters;
  for (const MetricParameter& one : metric_parameters) {
    if (!one.asked || (options.*one.asked).empty()) continue;
    const std::vector<double>& given = options.*one.asked;
    check_length(one, given.size(), columns);
    parameters.*one.values = counting(given, columns, one.is_matrix, features);
  }
  if (metric == Metric::seuclidean && options.variances.empty()) parameters.variances = variances();
  parameters.degrees = options.degrees;
  if (metric == Metric::minkowski) parameters.p = {options.p};
  if (takes_categories(metric)) {
    parameters.categorical = counting(flags_of(options.categorical, columns), columns, false, features);
    if (parameters.ranges.empty()) parameters.ranges = counting(ranges(), columns, false, features);
    for (std::size_t d = 0; d < features.size(); ++d)
      if (parameters.categorical[d] != 0) parameters.ranges[d] = 0;
  }
  return parameters;
}

void check_parameters(Metric metric, const MetricParameters& given, std::span<const std::int64_t> features) {
  check_of_columns("column_weights", given.column_weights, features, true);
  check_of_columns("variances", given.variances, features, false);
  check_of_columns("ranges", given.ranges, features, true);
  check_flags(given.categorical, features);
  if (metric == Metric::minkowski) check_p(given.p.empty() ? 0 : given.p.front());
  if (!given.covariance.empty()) check_matrix("covariance", given.covariance, features);
  if (!given.inverse_covariance.empty())
    check_matrix("inverse_covariance", given.inverse_covariance, features);
}

}  // namespace kith
