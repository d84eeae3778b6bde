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
inline float table_chain(Metric metric, std::span<const float> query, std::span<const float> row) {
  using std::fabs, std::fma, std::fmax;
  float acc = 0.0f;
  switch (metric) {
#define KITH_METRIC(id, prepare, start, accumulate, finish) \
  case Metric::id:                                          \
    acc = start;                                            \
    for (std::size_t d = 0; d < query.size(); ++d) {        \
      const float a = query[d], b = row[d];                 \
      acc = accumulate;                                     \
    }                                                       \
    break;
#include "kith/metrics.def"
#undef KITH_METRIC
    default:
      break;  // prepared metrics have no chain
  }
  return acc;
}

/// Returns the raw value of a pair: one chain over dimensions 0, 1, ..., dims-1, as section 1 of the
/// contract defines it.
inline float chain(Metric metric, std::span<const float> query, std::span<const float> row) {
  if (is_of_sums(metric)) return share_of_pair(metric, query, row);
  float s = 0.0f;
  for (std::size_t d = 0; d < query.size(); ++d) {
    const float t = query[d] - row[d];
    switch (metric) {
      case Metric::squared_l2:
      case Metric::l2:
      case Metric::cosine:
        s = std::fma(t, t, s);
        break;
      case Metric::l1:
        s = s + std::fabs(t);
        break;
      case Metric::linf:
        s = std::max(s, std::fabs(t));
        break;
      case Metric::negative_dot:
        s = std::fma(-query[d], row[d], s);
        break;
      case Metric::hamming: {
        const std::uint32_t a = std::bit_cast<std::uint32_t>(query[d]),
                            b = std::bit_cast<std::uint32_t>(row[d]);
        for (int bit = 0; bit < 32; ++bit) s = s + ((a >> bit & 1u) == (b >> bit & 1u) ? 0.0f : 1.0f);
        break;
      }
      default:
        return table_chain(metric, query, row);
    }
  }
  return s;
}

/// Computes the distance that a user sees, from the raw value.
inline float finished(Metric metric, float s) {
  if (metric == Metric::l2 || metric == Metric::nan_euclidean) return std::sqrt(s);
  if (metric == Metric::cosine) return s / 2;
  return s;
}

/// Returns the rows that a device gets: for cosine divided by their norms in double, and rounded once.
inline Matrix prepared(Metric metric, Matrix rows) {
  if (metric != Metric::cosine) return rows;
  for (std::int64_t r = 0; r < rows.rows; ++r) {
    float* row = rows.values.data() + r * rows.cols;
    double squares = 0;
    for (std::int64_t d = 0; d < rows.cols; ++d) squares += double{row[d]} * double{row[d]};
    const double norm = std::sqrt(squares);
    for (std::int64_t d = 0; d < rows.cols; ++d) row[d] = static_cast<float>(double{row[d]} / norm);
  }
  return rows;
}

/// Returns the raw value of each pair of a query and a training row, [m, n]: the distance before the metric's
/// last step, such as sqrt.
inline std::vector<float> chains(Metric metric, const Matrix& queries, const Matrix& train) {
  const Matrix a = prepared(metric, queries), b = prepared(metric, train);
  std::vector<float> values;
  values.reserve(size(a.rows * b.rows));
  for (std::int64_t q = 0; q < a.rows; ++q)
    for (std::int64_t t = 0; t < b.rows; ++t) values.push_back(chain(metric, a.row(q), b.row(t)));
  return values;
}

// ---- The order -----------------------------------------------------------------------------------

/// A candidate is a pair, compared as section 2 says: by value, where -0 equals +0, then by row.
using Candidate = std::pair<float, std::uint32_t>;

inline bool nearer(const Candidate& a, const Candidate& b) {
  return a.first != b.first ? a.first < b.first : a.second < b.second;
}

/// Returns columns begin .. end-1 of one row of values, nearest first, without masked pairs, which are NaN.
/// Column 0 is training row `first_row`.
inline std::vector<Candidate> sorted(std::span<const float> values, std::size_t begin, std::size_t end,
                                     std::uint32_t first_row = 0) {
  std::vector<Candidate> all;
  for (std::size_t t = begin; t < end; ++t)
    if (!std::isnan(values[t]))
      all.emplace_back(values[t] == 0.0f ? 0.0f : values[t], first_row + static_cast<std::uint32_t>(t));
  std::sort(all.begin(), all.end(), nearer);
  return all;
}

/// Returns the key of a candidate, by arithmetic on the float's sign and magnitude.
inline Key key(const Candidate& candidate) {
  const auto pattern = std::bit_cast<std::uint32_t>(candidate.first);
  const std::int64_t magnitude = pattern & 0x7FFFFFFFu;
  const std::int64_t place = candidate.first < 0 ? 0x7FFFFFFFll - magnitude : 0x80000000ll + magnitude;
  return static_cast<Key>(place) * 0x100000000ull + candidate.second;
}

/// Returns the expected output of the step select: [m, parts, k].
inline std::vector<Key> selected(std::span<const float> values, std::size_t n, std::size_t k,
                                 std::size_t parts, std::uint32_t first_row = 0) {
  std::vector<Key> lists;
  const std::size_t part = (n + parts - 1) / parts;
  for (std::size_t q = 0; q < values.size() / n; ++q)
    for (std::size_t g = 0; g < parts; ++g) {
      const auto list =
          sorted(values.subspan(q * n, n), std::min(n, g * part), std::min(n, (g + 1) * part), first_row);
      for (std::size_t j = 0; j < k; ++j) lists.push_back(j < list.size() ? key(list[j]) : no_key);
    }
  return lists;
}

/// Returns the expected output of the step merge: [m, k].
inline std::vector<Key> merged(std::span<const Key> lists, std::size_t count, std::size_t k) {
  std::vector<Key> result;
  for (std::size_t row = 0; row < lists.size(); row += count * k) {
    std::vector<Key> all(lists.begin() + static_cast<std::ptrdiff_t>(row),
                         lists.begin() + static_cast<std::ptrdiff_t>(row + count * k));
    std::sort(all.begin(), all.end());
    result.insert(result.end(), all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k));
  }
  return result;
}

/// Returns the expected result of a search, bit for bit.
inline Neighbors neighbors(Metric metric, const Matrix& queries, const Matrix& train, std::int64_t k) {
  Neighbors found{queries.rows, k, {}, {}};
  const std::vector<float> values = chains(metric, queries, train);
  const std::size_t n = size(train.rows);
  for (std::size_t q = 0; q < size(queries.rows); ++q) {
    const auto list = sorted(std::span(values).subspan(q * n, n), 0, n);
    for (std::size_t j = 0; j < size(k); ++j) {
      found.distance.push_back(j < list.size() ? finished(metric, list[j].first) : inf);
      found.row.push_back(j < list.size() ? static_cast<std::int64_t>(list[j].second) : -1);
    }
  }
  return found;
}

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
