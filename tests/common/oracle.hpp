// Computes the right answers, implemented again from docs/contract.md. It shares with the library only its
// types, and metrics.def for the metrics that have no formula of their own here.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/data.hpp"
#include "kith/metric.hpp"
#include "kith/neighbors.hpp"
#include "kith/unstable/stages.hpp"
#include "metric/sums_oracle.hpp"

namespace kith::tests {

// ---- The chain: bits -----------------------------------------------------------------------------

/// Computes the chain of any metric, by its line in metrics.def.
float table_chain(Metric metric, std::span<const float> query, std::span<const float> row);

/// Returns the raw value of a pair: one chain over dimensions 0, 1, ..., dims-1, as section 1 of the
/// contract defines it.
float chain(Metric metric, std::span<const float> query, std::span<const float> row);

/// Computes the distance that a user sees, from the raw value.
inline float finished(Metric metric, float s) {
  if (metric == Metric::l2 || metric == Metric::nan_euclidean) return std::sqrt(s);
  if (metric == Metric::cosine) return s / 2;
  return s;
}

/// Returns the rows that a device gets: for cosine divided by their norms in double, and rounded once.
Matrix prepared(Metric metric, Matrix rows);

/// Returns the raw value of each pair of a query and a training row, [m, n]: the distance before the metric's
/// last step, such as sqrt.
std::vector<float> chains(Metric metric, const Matrix& queries, const Matrix& train);

// ---- The order -----------------------------------------------------------------------------------

/// A candidate is a pair, compared as section 2 says: by value, where -0 equals +0, then by row.
using Candidate = std::pair<float, std::uint32_t>;

inline bool nearer(const Candidate& a, const Candidate& b) {
  return a.first != b.first ? a.first < b.first : a.second < b.second;
}

/// Returns columns begin .. end-1 of one row of values, nearest first, without masked pairs, which are NaN.
/// Column 0 is training row `first_row`.
std::vector<Candidate> sorted(std::span<const float> values, std::size_t begin, std::size_t end,
                              std::uint32_t first_row = 0);

/// Returns the key of a candidate, by arithmetic on the float's sign and magnitude.
inline Key key(const Candidate& candidate) {
  const auto pattern = std::bit_cast<std::uint32_t>(candidate.first);
  const std::int64_t magnitude = pattern & 0x7FFFFFFFu;
  const std::int64_t place = candidate.first < 0 ? 0x7FFFFFFFll - magnitude : 0x80000000ll + magnitude;
  return static_cast<Key>(place) * 0x100000000ull + candidate.second;
}

/// Returns the expected output of the step select: [m, parts, k].
std::vector<Key> selected(std::span<const float> values, std::size_t n, std::size_t k, std::size_t parts,
                          std::uint32_t first_row = 0);

/// Returns the expected output of the step merge: [m, k].
std::vector<Key> merged(std::span<const Key> lists, std::size_t count, std::size_t k);

/// Returns the expected result of a search, bit for bit.
Neighbors neighbors(Metric metric, const Matrix& queries, const Matrix& train, std::int64_t k);

// ---- Candidates -----------------------------------------------------------------------------------

/// Returns rows that the step collect must list for one query, ascending. Column 0 is training
/// row `first_row`.
inline std::vector<std::uint32_t> kept(std::span<const float> values, float threshold,
                                       std::uint32_t first_row = 0) {
  std::vector<std::uint32_t> rows;
  for (std::size_t t = 0; t < values.size(); ++t)
    if (values[t] < threshold || values[t] == threshold)
      rows.push_back(first_row + static_cast<std::uint32_t>(t));
  return rows;
}

/// Returns the expected output of the step tighten for one query: the k best of `best` and the candidates.
inline std::vector<Key> joined(std::vector<Key> best, std::span<const Key> candidates) {
  const std::size_t k = best.size();
  best.insert(best.end(), candidates.begin(), candidates.end());
  std::sort(best.begin(), best.end());
  best.resize(k);
  return best;
}

// ---- Mathematics: no rounding to speak of --------------------------------------------------------

/// Computes the mathematical distance, in long double.
inline long double true_distance(Metric metric, std::span<const float> query, std::span<const float> row) {
  long double squares = 0, absolute = 0, largest = 0, dot = 0, query_squares = 0, row_squares = 0;
  for (std::size_t d = 0; d < query.size(); ++d) {
    const long double a = query[d], b = row[d];
    squares += (a - b) * (a - b);
    absolute += std::fabs(a - b);
    largest = std::max(largest, std::fabs(a - b));
    dot += a * b;
    query_squares += a * a;
    row_squares += b * b;
  }
  switch (metric) {
    case Metric::squared_l2:
      return squares;
    case Metric::l2:
      return std::sqrt(squares);
    case Metric::l1:
      return absolute;
    case Metric::linf:
      return largest;
    case Metric::negative_dot:
      return -dot;
    case Metric::cosine:
      return 1.0L - dot / std::sqrt(query_squares * row_squares);
    default:
      return std::numeric_limits<long double>::quiet_NaN();
  }
}

/// Returns the rounding error of a - b, exactly: the smaller operand minus the part of it that arrived
/// (Dekker 1971).
inline long double error_of_difference(float a, float b) {
  const long double rounded = a - b, exact_a = a, exact_b = b;
  return std::fabs(a) >= std::fabs(b) ? (exact_a - rounded) - exact_b : exact_a - (rounded + exact_b);
}

/// Computes the bounds of docs/certificate.md from the given terms of queries and rows.
struct Certificate {
  using Real = long double;
  static_assert(std::numeric_limits<Real>::digits >= 64);

  Real dims;
  bool squares;  ///< squared distances, not inner products

  Certificate(std::size_t columns, Metric metric)
      : dims(static_cast<Real>(columns)), squares(metric != Metric::negative_dot) {}

  /// Returns the relative error of dims + 2 successive roundings: g and b of the certificate.
  Real rounding() const { return (dims + 2) * 0x1p-24L / (1 - (dims + 2) * 0x1p-24L); }

  /// Holds the largest terms among the queries of a step.
  struct Queries {
    Real norm = 0, error = 0, quantized_norm = 0;  ///< A, B and S
  };
  void add(Queries& all, float norm, float quantized_norm, float residual) const {
    const Real quantized = quantized_norm;
    all.norm = std::max(all.norm, Real{norm});
    all.error = std::max(all.error, squares ? residual + rounding() * quantized : 2 * rounding() * quantized);
    all.quantized_norm = std::max(all.quantized_norm, quantized);
  }
  /// Computes the bound E, without the part that covers its own rounding.
  Real error(const Queries& all, float quantized_norm, float residual) const {
    const Real underflow = dims * 0x1p-120L * (1 + all.quantized_norm + quantized_norm) * (squares ? 1 : 2);
    return all.norm * residual + all.error * quantized_norm + underflow;
  }
  /// Returns the smallest threshold that the certificate allows for this U.
  Real threshold(float worst, float half_norm) const {
    return squares ? (worst + dims * 0x1p-149L) / (1 - rounding()) / 2 - half_norm : Real{worst};
  }
};

// ---- Differences, as text ------------------------------------------------------------------------

inline std::string text_of(float value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.9g (0x%08X)", static_cast<double>(value),
                std::bit_cast<std::uint32_t>(value));
  return text;
}

inline std::string text_of(Key key) {
  return key == no_key ? "none" : "row " + std::to_string(row_of(key)) + " at " + text_of(value_of(key));
}

inline std::string text_of(std::uint32_t value) {
  return std::to_string(value);
}

inline bool same(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}
inline bool same(std::uint32_t a, std::uint32_t b) {
  return a == b;
}
inline bool same(Key a, Key b) {
  return a == b;
}

/// Returns the first place where `actual` differs from `expected` bit for bit, with both values; empty if
/// they are equal. Tests read CHECK(difference(actual, expected) == "").
template <class T>
std::string difference(const std::vector<T>& actual, const std::vector<T>& expected) {
  if (actual.size() != expected.size())
    return std::to_string(actual.size()) + " elements instead of " + std::to_string(expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i)
    if (!same(actual[i], expected[i]))
      return "element " + std::to_string(i) + " is " + text_of(actual[i]) + " instead of " +
             text_of(expected[i]);
  return {};
}

inline std::string difference(const Neighbors& actual, const Neighbors& expected) {
  if (actual.queries != expected.queries || actual.k != expected.k ||
      actual.row.size() != expected.row.size() || actual.distance.size() != expected.distance.size())
    return "another shape: [" + std::to_string(actual.queries) + ", " + std::to_string(actual.k) + "]";
  for (std::size_t i = 0; i < actual.row.size(); ++i)
    if (actual.row[i] != expected.row[i] || !same(actual.distance[i], expected.distance[i]))
      return "query " + std::to_string(i / size(actual.k)) + ", rank " + std::to_string(i % size(actual.k)) +
             ": row " + std::to_string(actual.row[i]) + " at " + text_of(actual.distance[i]) +
             " instead of row " + std::to_string(expected.row[i]) + " at " + text_of(expected.distance[i]);
  return {};
}

}  // namespace kith::tests
