#include "problem.hpp"

#include <algorithm>

#include "common/oracle.hpp"

namespace kith::tests::soak {
namespace {

struct Shape {
  DataKind data;
  Metric metric;
  std::int64_t n, dims, m, k, classes;
};

constexpr Shape shapes[] = {
    {DataKind::clusters, Metric::l2, 2000, 16, 24, 9, 4},
    {DataKind::grid, Metric::l1, 700, 5, 16, 50, 3},
    {DataKind::integers, Metric::squared_l2, 6000, 40, 32, 5, 10},
    {DataKind::normal, Metric::cosine, 1500, 24, 12, 20, 2},
    {DataKind::offset, Metric::linf, 260, 3, 8, 259, 5},
    {DataKind::uniform, Metric::negative_dot, 1000, 8, 16, 1, 3},
};
constexpr std::size_t few_shapes = 3;

KnownProblem made(const Shape& shape, std::uint64_t seed) {
  KnownProblem p;
  p.title = std::to_string(shape.n) + " rows of " + std::to_string(shape.dims) + " by " +
            std::string(name(shape.metric)) + ", k = " + std::to_string(shape.k);
  p.metric = shape.metric;
  p.k = shape.k;
  p.train = hard_rows(shape.data, Set::train, shape.n, shape.dims, shape.metric, seed);
  p.queries = hard_rows(shape.data, Set::queries, shape.m, shape.dims, shape.metric, seed);
  p.self = shape.n / 3;
  std::copy_n(p.train.row(p.self).data(), p.self_count() * shape.dims,
              p.queries.values.data() + p.first_self() * shape.dims);
  p.labels = workloads::make_labels(seed, shape.n, shape.classes);
  p.classes = p.labels;
  std::sort(p.classes.begin(), p.classes.end());
  p.classes.erase(std::unique(p.classes.begin(), p.classes.end()), p.classes.end());
  const Neighbors all = neighbors(shape.metric, p.queries, p.train, shape.n);
  for (std::size_t q = 0; q < size(shape.m); ++q) {
    auto& list = p.ranked.emplace_back();
    for (std::size_t i = q * size(shape.n); i < (q + 1) * size(shape.n); ++i)
      list.emplace_back(all.distance[i], all.row[i]);
  }
  return p;
}

}  // namespace

Neighbors known(const KnownProblem& problem, std::int64_t first, std::int64_t count, std::int64_t k,
                const Counts& counts) {
  Neighbors found{count, k, {}, {}};
  for (std::int64_t q = first; q < first + count; ++q) {
    std::int64_t have = 0;
    for (const auto& [distance, row] : problem.ranked[size(q)]) {
      if (have == k) break;
      if (!counts(q, row)) continue;
      found.distance.push_back(distance);
      found.row.push_back(row);
      ++have;
    }
    found.distance.resize(found.distance.size() + size(k - have), inf);
    found.row.resize(found.row.size() + size(k - have), -1);
  }
  return found;
}

Neighbors known(const KnownProblem& problem, std::int64_t rows, std::int64_t k) {
  return known(problem, 0, problem.queries.rows, k,
               [rows](std::int64_t, std::int64_t t) { return t < rows; });
}

RadiusNeighbors known_within(const KnownProblem& problem, float radius) {
  RadiusNeighbors found{problem.queries.rows, {0}, {}, {}};
  for (const auto& list : problem.ranked) {
    for (const auto& [distance, row] : list) {
      if (distance > radius) break;
      found.distance.push_back(distance);
      found.row.push_back(row);
    }
    found.first.push_back(static_cast<std::int64_t>(found.row.size()));
  }
  return found;
}

Votes known_votes(const KnownProblem& problem, const std::vector<std::int64_t>& rows,
                  const std::vector<std::int64_t>& bounds) {
  Votes all;
  for (std::size_t q = 0; q + 1 < bounds.size(); ++q) {
    std::vector<std::uint32_t> votes(problem.classes.size());
    for (std::int64_t i = bounds[q]; i < bounds[q + 1]; ++i) {
      if (rows[size(i)] < 0) continue;
      const std::int64_t label = problem.labels[size(rows[size(i)])];
      const auto place = std::lower_bound(problem.classes.begin(), problem.classes.end(), label);
      ++votes[static_cast<std::size_t>(place - problem.classes.begin())];
    }
    const auto most = std::max_element(votes.begin(), votes.end());
    all.label.push_back(*most == 0 ? default_no_label
                                   : problem.classes[static_cast<std::size_t>(most - votes.begin())]);
    all.votes.insert(all.votes.end(), votes.begin(), votes.end());
  }
  return all;
}

std::vector<KnownProblem> problems(std::uint64_t seed, bool few) {
  std::vector<KnownProblem> all;
  for (const Shape& shape : shapes)
    if (!few || all.size() < few_shapes) all.push_back(made(shape, seed));
  return all;
}

}  // namespace kith::tests::soak
