// What an Index with a prepared metric or weights of columns must return, written from docs/contract.md,
// section 1, alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <random>

#include "common/oracle.hpp"
#include "doubles/doubles_oracle.hpp"
#include "kith/index.hpp"
#include "metric/angles.hpp"
#include "metric/roots.hpp"

namespace kith::tests {

using Values = std::vector<double>;

/// A metric with its parameters, of all columns.
struct MetricAsked {
  Metric metric;
  Values weights = {}, variances = {}, covariance = {}, inverse = {};
  double p = 0;
  std::vector<std::int64_t> categorical = {};
  Values ranges = {};

  IndexOptions options(Arithmetic arithmetic = Arithmetic::automatic) const {
    IndexOptions all;
    all.column_weights = weights;
    all.variances = variances;
    all.covariance = covariance;
    all.inverse_covariance = inverse;
    all.p = p;
    all.categorical = categorical;
    all.ranges = ranges;
    all.arithmetic = arithmetic;
    return all;
  }
  /// Returns whether columns have terms in the place of differences.
  bool has_terms() const {
    return metric == Metric::minkowski || metric == Metric::gower || metric == Metric::nan_gower ||
           metric == Metric::matching || metric == Metric::canberra;
  }
  /// Returns whether an Index may have this arithmetic.
  bool has(Arithmetic width) const { return width == Arithmetic::f32 || metric != Metric::nan_gower; }
  bool is_sum_of_terms() const { return compared() == Metric::l1 || compared() == Metric::nan_manhattan; }
  bool is_categorical(std::size_t column) const {
    return metric == Metric::matching || std::find(categorical.begin(), categorical.end(),
                                                   static_cast<std::int64_t>(column)) != categorical.end();
  }
  /// Returns the metric that compares the rows.
  Metric compared() const {
    if (metric == Metric::nan_gower) return Metric::nan_manhattan;
    if (has_terms()) return Metric::l1;
    if (metric == Metric::correlation || metric == Metric::spearman || metric == Metric::angular)
      return Metric::cosine;
    const bool squares = metric == Metric::seuclidean || metric == Metric::mahalanobis ||
                         metric == Metric::hellinger || metric == Metric::haversine;
    return squares ? Metric::l2 : metric;
  }
  /// Returns the distance that is shown for one by compared().
  double shown(double distance) const {
    if (metric == Metric::angular) return 2 * rounded_asin(std::min(1.0, std::sqrt(distance / 2)));
    if (metric == Metric::haversine) return 2 * rounded_asin(std::min(1.0, distance / 2));
    return distance;
  }
};

/// Returns C, row by row, of the matrix C C^T.
inline std::vector<Values> factor_by_contract(const Values& matrix, std::size_t dims) {
  std::vector<Values> c(dims, Values(dims));
  for (std::size_t j = 0; j < dims; ++j)
    for (std::size_t i = j; i < dims; ++i) {
      double s = (matrix[i * dims + j] + matrix[j * dims + i]) / 2;
      for (std::size_t k = 0; k < j; ++k) {
        const double product = c[i][k] * c[j][k];
        s = s - product;
      }
      c[i][j] = i == j ? std::sqrt(s) : s / c[j][j];
    }
  return c;
}

/// Returns the average rank of x[d], from 1.
inline double rank_by_contract(const Values& x, std::size_t d) {
  double below = 0, equal = 0;
  for (const double other : x) {
    if (other < x[d]) ++below;
    if (other == x[d]) ++equal;
  }
  return below + (equal + 1) / 2;
}

/// Returns what a value becomes for a metric of terms.
inline double prepared_value(const MetricAsked& asked, std::size_t column, double x) {
  if (!asked.weights.empty()) return x * rounded_root(asked.weights[column], static_cast<int>(2 * asked.p));
  if (asked.ranges.empty() || asked.is_categorical(column) || std::isnan(x)) return x;
  return asked.ranges[column] == 0 ? 0 : x / asked.ranges[column];
}

template <class Real>
Real term_by_contract(const MetricAsked& asked, std::size_t column, Real a, Real b) {
  const Real t = std::fabs(a - b);
  if (asked.is_categorical(column)) return a == b ? Real{0} : Real{1};
  if (asked.metric == Metric::canberra) {
    const Real sum = std::fabs(a) + std::fabs(b);
    return sum == 0 ? Real{0} : t / sum;
  }
  if (asked.metric != Metric::minkowski) return t;
  std::vector<Real> factors(static_cast<std::size_t>(asked.p), t);
  if (asked.p != std::floor(asked.p)) factors.push_back(std::sqrt(t));
  Real product = factors[0];
  for (std::size_t i = 1; i < factors.size(); ++i) product = product * factors[i];
  return product;
}

/// Returns what a row becomes, before it is rounded to the arithmetic of the Index.
inline Values prepared_by_contract(const MetricAsked& asked, const Values& x) {
  if (asked.has_terms()) {
    Values to;
    for (std::size_t d = 0; d < x.size(); ++d) to.push_back(prepared_value(asked, d, x[d]));
    return to;
  }
  if (asked.metric == Metric::angular) return x;
  if (asked.metric == Metric::haversine)
    return {rounded_cos(x[0]) * rounded_cos(x[1]), rounded_cos(x[0]) * rounded_sin(x[1]), rounded_sin(x[0])};
  const std::size_t dims = x.size();
  Values to(dims);
  double sum = 0;
  for (const double value : x) sum = sum + value;
  std::vector<Values> c;
  if (!asked.covariance.empty()) c = factor_by_contract(asked.covariance, dims);
  if (!asked.inverse.empty()) c = factor_by_contract(asked.inverse, dims);
  for (std::size_t d = 0; d < dims; ++d) switch (asked.metric) {
      case Metric::correlation:
        to[d] = x[d] - sum / static_cast<double>(dims);
        break;
      case Metric::spearman:
        to[d] = rank_by_contract(x, d) - (static_cast<double>(dims) + 1) / 2;
        break;
      case Metric::seuclidean:
        to[d] = x[d] / std::sqrt(asked.variances[d]);
        break;
      case Metric::hellinger:
        to[d] = std::sqrt(x[d] / 2);
        break;
      case Metric::mahalanobis:
        if (!asked.inverse.empty()) {
          for (std::size_t i = d; i < dims; ++i) {
            const double product = c[i][d] * x[i];
            to[d] = to[d] + product;
          }
        } else {
          double rest = x[d];
          for (std::size_t j = 0; j < d; ++j) {
            const double product = c[d][j] * to[j];
            rest = rest - product;
          }
          to[d] = rest / c[d][d];
        }
        break;
      case Metric::l1:
        to[d] = x[d] * asked.weights[d];
        break;
      default:
        to[d] = x[d] * std::sqrt(asked.weights[d]);
    }
  return to;
}

inline DoubleMatrix prepared_by_contract(const MetricAsked& asked, const DoubleMatrix& rows) {
  DoubleMatrix to{rows.rows, asked.metric == Metric::haversine ? 3 : rows.cols, {}};
  for (std::int64_t r = 0; r < rows.rows; ++r)
    for (const double value : prepared_by_contract(asked, rows.row(r))) to.values.push_back(value);
  return to;
}

inline Matrix rounded(const DoubleMatrix& rows) {
  return {rows.rows, rows.cols, {rows.values.begin(), rows.values.end()}};
}

/// Returns the raw value of a pair by terms of columns; NaN if the rows have no column in common.
template <class Real>
Real sum_of_terms(const MetricAsked& asked, std::span<const double> query, std::span<const double> row) {
  Real s = 0;
  std::size_t common = 0;
  for (std::size_t d = 0; d < row.size(); ++d) {
    if (std::isnan(query[d]) || std::isnan(row[d])) continue;
    s = s + term_by_contract(asked, d, static_cast<Real>(query[d]), static_cast<Real>(row[d]));
    ++common;
  }
  if constexpr (sizeof(Real) == sizeof(float))
    if (asked.metric == Metric::nan_gower)
      return rescaled_sum(s, static_cast<long double>(common), row.size());
  return s;
}

/// Returns the k nearest by terms of columns.
template <class Real>
Neighbors nearest_by_terms(const MetricAsked& asked, const DoubleMatrix& train, const DoubleMatrix& queries,
                           std::int64_t k) {
  const DoubleMatrix rows = prepared_by_contract(asked, train), of = prepared_by_contract(asked, queries);
  Neighbors found{queries.rows, k, {}, {}};
  if (sizeof(Real) == sizeof(double)) found.arithmetic = Arithmetic::f64;
  for (std::int64_t q = 0; q < of.rows; ++q) {
    std::vector<std::pair<Real, std::int64_t>> sums;
    for (std::int64_t t = 0; t < rows.rows; ++t) {
      const Real s = sum_of_terms<Real>(asked, of.row(q), rows.row(t));
      if (!std::isnan(s)) sums.emplace_back(s, t);
    }
    std::sort(sums.begin(), sums.end());
    while (static_cast<std::int64_t>(sums.size()) < k)
      sums.emplace_back(std::numeric_limits<Real>::infinity(), -1);
    for (std::int64_t i = 0; i < k; ++i) {
      const auto& [s, row] = sums[static_cast<std::size_t>(i)];
      Real shown = s;
      if (asked.metric == Metric::minkowski) shown = rounded_root(s, static_cast<int>(2 * asked.p));
      if (asked.metric == Metric::gower || asked.metric == Metric::nan_gower ||
          asked.metric == Metric::matching)
        shown = s / static_cast<Real>(train.cols);
      if constexpr (sizeof(Real) == sizeof(double))
        found.distance64.push_back(shown);
      else
        found.distance.push_back(shown);
      found.row.push_back(row);
    }
  }
  return found;
}

/// Returns the k nearest, in the arithmetic of the Index.
inline Neighbors nearest_by_contract(const MetricAsked& asked, Arithmetic arithmetic,
                                     const DoubleMatrix& train, const DoubleMatrix& queries, std::int64_t k) {
  if (asked.has_terms())
    return arithmetic == Arithmetic::f32 ? nearest_by_terms<float>(asked, train, queries, k)
                                         : nearest_by_terms<double>(asked, train, queries, k);
  const DoubleMatrix rows = prepared_by_contract(asked, train), of = prepared_by_contract(asked, queries);
  Neighbors found =
      arithmetic == Arithmetic::f32
          ? neighbors(asked.compared(), rounded(of), rounded(rows), k)
          : nearest_by_oracle(asked.compared(), all_by_oracle(asked.compared(), rows, of, every_row), k);
  for (float& distance : found.distance)
    distance = static_cast<float>(asked.shown(static_cast<double>(distance)));
  for (double& distance : found.distance64) distance = asked.shown(distance);
  return found;
}

// ---- Data ----------------------------------------------------------------------------------------

inline DoubleMatrix rows_for(const MetricAsked& asked, std::int64_t rows, std::int64_t cols,
                             std::mt19937& random) {
  DoubleMatrix made{rows, cols, {}};
  std::normal_distribution<double> normal;
  const bool whole = random() % 2 == 0;  // many equal values, and ties
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t d = 0; d < cols; ++d) {
      double value = whole ? std::floor(normal(random) * 3) : normal(random) * 5 + 1;
      if (asked.metric == Metric::hellinger) value = std::fabs(value);
      if (d == 0) value += 64;
      // Values are floats, so that rows of floats and of doubles are the same rows; none are all equal.
      if (asked.metric == Metric::nan_gower && random() % 4 == 0) value = std::nan("");
      made.values.push_back(static_cast<double>(static_cast<float>(value)));
    }
  return made;
}

/// Returns a symmetric, positive definite matrix.
inline Values definite_matrix(std::int64_t cols, std::mt19937& random) {
  const auto dims = static_cast<std::size_t>(cols);
  std::normal_distribution<double> normal;
  Values root(dims * dims), matrix(dims * dims);
  for (double& value : root) value = normal(random);
  for (std::size_t i = 0; i < dims; ++i)
    for (std::size_t j = 0; j < dims; ++j) {
      for (std::size_t k = 0; k < dims; ++k) matrix[i * dims + j] += root[i * dims + k] * root[j * dims + k];
      if (i == j) matrix[i * dims + j] += 0.5;
    }
  return matrix;
}

inline Values positive(std::int64_t cols, std::mt19937& random) {
  Values values;
  for (std::int64_t d = 0; d < cols; ++d) values.push_back(0.1 + static_cast<double>(random() % 1000) / 100);
  return values;
}

/// Lists every prepared metric, of which not all have double precision (MetricAsked::has()), and every metric
/// with weights.
inline std::vector<MetricAsked> all_prepared(std::int64_t cols, std::mt19937& random) {
  std::vector<MetricAsked> all{
      {Metric::correlation}, {Metric::spearman}, {Metric::hellinger}, {Metric::angular}};
  all.push_back({Metric::seuclidean, {}, positive(cols, random)});
  all.push_back({Metric::mahalanobis, {}, {}, definite_matrix(cols, random)});
  all.push_back({Metric::mahalanobis, {}, {}, {}, definite_matrix(cols, random)});
  for (const Metric metric : {Metric::l1, Metric::l2, Metric::squared_l2}) {
    Values weights = positive(cols, random);
    if (random() % 2 == 0) weights[random() % weights.size()] = 0;
    all.push_back({metric, weights});
  }
  all.push_back({Metric::matching});
  all.push_back({Metric::canberra});
  all.push_back({.metric = Metric::gower, .categorical = {cols - 1, 0}, .ranges = positive(cols, random)});
  if (random() % 2 == 0) all.back().ranges[1] = 0;
  all.push_back(all.back());
  all.back().metric = Metric::nan_gower;
  if (random() % 3 == 0) all.back().categorical.clear();
  const double p = 0.5 * static_cast<double>(1 + random() % 16);
  all.push_back({.metric = Metric::minkowski, .p = p == 1 || p == 2 ? 3 : p});
  all.push_back({.metric = Metric::minkowski, .weights = positive(cols, random), .p = 1.5});
  return all;
}

}  // namespace kith::tests
