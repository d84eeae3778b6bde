// What an Index with a prepared metric or weights of columns must return, written from docs/contract.md,
// section 1, alone.
#pragma once

#include <cmath>
#include <random>

#include "common/oracle.hpp"
#include "doubles/doubles_oracle.hpp"
#include "kith/index.hpp"
#include "metric/angles.hpp"

namespace kith::tests {

using Values = std::vector<double>;

/// A metric with its parameters, of all columns.
struct MetricAsked {
  Metric metric;
  Values weights = {}, variances = {}, covariance = {}, inverse = {};

  IndexOptions options(Arithmetic arithmetic = Arithmetic::automatic) const {
    IndexOptions all;
    all.column_weights = weights;
    all.variances = variances;
    all.covariance = covariance;
    all.inverse_covariance = inverse;
    all.arithmetic = arithmetic;
    return all;
  }
  /// Returns the metric that compares the rows.
  Metric compared() const {
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

/// Returns what a row becomes, before it is rounded to the arithmetic of the Index.
inline Values prepared_by_contract(const MetricAsked& asked, const Values& x) {
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

/// Returns the k nearest, in the arithmetic of the Index.
inline Neighbors nearest_by_contract(const MetricAsked& asked, Arithmetic arithmetic,
                                     const DoubleMatrix& train, const DoubleMatrix& queries, std::int64_t k) {
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

/// Lists every prepared metric, and every metric with weights.
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
  return all;
}

}  // namespace kith::tests
