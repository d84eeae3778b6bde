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

RowFilter filter_of(const Counts& counts, std::int64_t n, std::int64_t filters);

/// Returns the candidates of query q that count, nearest first.
///   values  [m, n], raw
std::vector<Candidate> ranked(const std::vector<float>& values, std::int64_t n, std::int64_t q,
                              const Counts& counts);

Neighbors neighbors_among(Metric metric, const Matrix& queries, const Matrix& train, std::int64_t k,
                          const Counts& counts);

/// Returns the expected result of a radius search. `radii` has one value, or one per query.
RadiusNeighbors within(Metric metric, const Matrix& queries, const Matrix& train,
                       const std::vector<float>& radii, const Counts& counts = all_count);

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
