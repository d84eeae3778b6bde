// What the soak asks, and what must come of it: known before, by code that shares nothing with the library.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/data.hpp"
#include "kith/classifier.hpp"
#include "kith/neighbors.hpp"

namespace kith::tests::soak {

/// Rows, queries and all training rows of each query, nearest first. The second half of the queries are
/// training rows, `self` and those after it.
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

/// Whether training row t has a part in the answer to query q.
using Counts = std::function<bool(std::int64_t q, std::int64_t t)>;

/// The k nearest of those that count, for queries first ... first + count - 1.
Neighbors known(const KnownProblem& problem, std::int64_t first, std::int64_t count, std::int64_t k,
                const Counts& counts);
/// Of the training rows below `rows`, for all queries.
Neighbors known(const KnownProblem& problem, std::int64_t rows, std::int64_t k);
/// All rows within a radius of each query.
RadiusNeighbors known_within(const KnownProblem& problem, float radius);

struct Votes {
  std::vector<std::int64_t> label;   ///< [m]
  std::vector<std::uint32_t> votes;  ///< [m, classes]
};
/// Each neighbour one vote; of several classes the smallest label. `bounds`: where each query's rows begin,
/// [m + 1]; -1 is no neighbour.
Votes known_votes(const KnownProblem& problem, const std::vector<std::int64_t>& rows,
                  const std::vector<std::int64_t>& bounds);

/// Several, of all metrics, with ties, with k = 1 and k = n. Fewer and smaller ones where `few`.
std::vector<KnownProblem> problems(std::uint64_t seed, bool few);

}  // namespace kith::tests::soak
