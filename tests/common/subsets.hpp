// Computes the expected results of searches among some of the training rows, from the values and the order
// of oracle.hpp.
#pragma once

#include <functional>
#include <vector>

#include "common/oracle.hpp"
#include "kith/filter.hpp"

namespace kith::tests {

/// Tells whether training row t counts for query q.
using Counts = std::function<bool(std::int64_t q, std::int64_t t)>;

inline bool all_count(std::int64_t, std::int64_t) {
  return true;
}

/// Selects every training row but the query itself, which is row `self` + q.
inline Counts others(std::int64_t self) {
  return [self](std::int64_t q, std::int64_t t) { return t != self + q; };
}

/// Selects about one in `share` training rows for each query, irregularly.
inline Counts some(std::int64_t share) {
  return [share](std::int64_t q, std::int64_t t) {
    const auto mixed = static_cast<std::uint64_t>(t * 977 + q * 7919 + 13) * 0x9E3779B97F4A7C15u;
    return static_cast<std::int64_t>(mixed >> 40) % share == 0;
  };
}

/// Applies the selection of query 0 to all queries.
inline Counts of_query_0(const Counts& counts) {
  return [counts](std::int64_t, std::int64_t t) { return counts(0, t); };
}

inline RowFilter filter_of(const Counts& counts, std::int64_t n, std::int64_t filters) {
  RowFilter filter(n, filters, false);
  for (std::int64_t q = 0; q < filters; ++q)
    for (std::int64_t t = 0; t < n; ++t)
      if (counts(q, t)) filter.set(t, true, q);
  return filter;
}

/// Returns the candidates of query q that count, nearest first.
///   values  [m, n], raw
inline std::vector<Candidate> ranked(const std::vector<float>& values, std::int64_t n, std::int64_t q,
                                     const Counts& counts) {
  std::vector<Candidate> list;
  for (const Candidate& candidate : sorted(std::span(values).subspan(size(q * n), size(n)), 0, size(n)))
    if (counts(q, candidate.second)) list.push_back(candidate);
  return list;
}

inline Neighbors neighbors_among(Metric metric, const Matrix& queries, const Matrix& train, std::int64_t k,
                                 const Counts& counts) {
  Neighbors found{queries.rows, k, {}, {}};
  const std::vector<float> values = chains(metric, queries, train);
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const std::vector<Candidate> list = ranked(values, train.rows, q, counts);
    for (std::size_t j = 0; j < size(k); ++j) {
      found.distance.push_back(j < list.size() ? finished(metric, list[j].first) : inf);
      found.row.push_back(j < list.size() ? static_cast<std::int64_t>(list[j].second) : -1);
    }
  }
  return found;
}

/// Returns the expected result of a radius search. `radii` has one value, or one per query.
inline RadiusNeighbors within(Metric metric, const Matrix& queries, const Matrix& train,
                              const std::vector<float>& radii, const Counts& counts = all_count) {
  RadiusNeighbors found{queries.rows, {0}, {}, {}};
  const std::vector<float> values = chains(metric, queries, train);
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const float radius = radii.size() == 1 ? radii[0] : radii[size(q)];
    for (const Candidate& candidate : ranked(values, train.rows, q, counts)) {
      const float distance = finished(metric, candidate.first);
      if (distance > radius) continue;
      found.distance.push_back(distance);
      found.row.push_back(candidate.second);
    }
    found.first.push_back(static_cast<std::int64_t>(found.row.size()));
  }
  return found;
}

inline std::string difference(const RadiusNeighbors& actual, const RadiusNeighbors& expected) {
  if (actual.queries != expected.queries || actual.first.size() != expected.first.size())
    return std::to_string(actual.queries) + " queries instead of " + std::to_string(expected.queries);
  for (std::int64_t q = 0; q < expected.queries; ++q)
    if (actual.count(q) != expected.count(q))
      return "query " + std::to_string(q) + " has " + std::to_string(actual.count(q)) + " rows instead of " +
             std::to_string(expected.count(q));
  if (actual.row != expected.row) return "other rows, or another order";
  return difference(actual.distance, expected.distance);
}

}  // namespace kith::tests
