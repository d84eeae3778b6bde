// Makes the problems of the soak and their answers, beforehand and by code that shares nothing with
// the library.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/data.hpp"
#include "kith/classifier.hpp"
#include "kith/neighbors.hpp"

namespace kith::tests::soak {

/// Holds rows, queries, and for each query all training rows, nearest first. The second half of the queries
/// are the training rows from `self` on.
struct KnownProblem {
  std::string title;
  Metric metric = Metric::l2;
  std::int64_t k = 1, self = 0;
  Matrix train, queries;
  std::vector<std::int64_t> labels, classes;
  std::vector<std::vector<std::pair<float, std::int64_t>>> ranked;  ///< [m][n], finished distance and row

  MatrixView<const float> last_queries() const { return queries.view().slice(first_self(), self_count()); }
  std::int64_t first_self() const { return queries.rows / 2; }
  std::int64_t self_count() const { return queries.rows - first_self(); }
};

/// Returns whether training row t counts for query q.
using Counts = std::function<bool(std::int64_t q, std::int64_t t)>;

/// Returns the k nearest rows that count, for queries first .. first + count - 1.
Neighbors known(const KnownProblem& problem, std::int64_t first, std::int64_t count, std::int64_t k,
                const Counts& counts);
/// Returns the k nearest of the first `rows` training rows, for all queries.
Neighbors known(const KnownProblem& problem, std::int64_t rows, std::int64_t k);
/// Returns all rows within a radius of each query.
RadiusNeighbors known_within(const KnownProblem& problem, float radius);

struct Votes {
  std::vector<std::int64_t> label;   ///< [m]
  std::vector<std::uint32_t> votes;  ///< [m, classes]
};
/// Counts one vote per neighbour; among tied classes the smallest label wins.
///   bounds  where the rows of each query begin, [m + 1]; row -1 is no neighbour
Votes known_votes(const KnownProblem& problem, const std::vector<std::int64_t>& rows,
                  const std::vector<std::int64_t>& bounds);

/// Returns several problems: all metrics, with ties, k = 1 and k = n. With `few`, fewer and smaller ones.
std::vector<KnownProblem> problems(std::uint64_t seed, bool few);

}  // namespace kith::tests::soak
