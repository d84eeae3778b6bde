// Computes expected counts and pairs from the distances of all rows, in plain loops.
#pragma once

#include "common/subsets.hpp"
#include "kith/index.hpp"

namespace kith::tests {

/// Returns how many rows that count are within each radius of each query, [m, r].
///   radii  [1 or m, r]
inline std::vector<std::int64_t> counted(Metric metric, const Matrix& queries, const Matrix& train,
                                         const CountRadii& radii, const Counts& counts = all_count) {
  std::vector<std::int64_t> found;
  const std::vector<float> values = chains(metric, queries, train);
  for (std::int64_t q = 0; q < queries.rows; ++q)
    for (std::int64_t r = 0; r < radii.radius.cols(); ++r) {
      const double radius = radii.radius(radii.radius.rows() > 1 ? q : 0, r);
      std::int64_t count = 0;
      for (std::int64_t t = 0; t < train.rows; ++t) {
        if (!counts(q, t)) continue;
        const double distance = finished(metric, values[size(q * train.rows + t)]);
        count += radii.strict ? distance < radius : distance <= radius;
      }
      found.push_back(count);
    }
  return found;
}

/// Returns the sums over all queries, [r].
inline std::vector<std::int64_t> summed(const std::vector<std::int64_t>& counts, std::size_t radii) {
  std::vector<std::int64_t> sums(radii);
  for (std::size_t i = 0; i < counts.size(); ++i) sums[i % radii] += counts[i];
  return sums;
}

/// Returns radii, [m, 6], at which rows lie, ascending: of each query 0, distances of some rows, one of them
/// a step nearer and one a step farther, and infinity.
inline std::vector<double> radii_among(Metric metric, const Matrix& queries, const Matrix& train) {
  std::vector<double> radii;
  const Neighbors all = neighbors(metric, queries, train, train.rows);
  for (std::int64_t q = 0; q < queries.rows; ++q) {
    const auto far = [&](std::int64_t rank) {
      return all.distance[size(q * train.rows + rank % train.rows)];
    };
    std::vector<double> own = {0,
                               far(q * 37),
                               std::nextafter(far(q * 5), -inf),
                               std::nextafter(far(q * 71), inf),
                               far(train.rows - 1),
                               static_cast<double>(inf)};
    std::sort(own.begin(), own.end());
    radii.insert(radii.end(), own.begin(), own.end());
  }
  return radii;
}

/// Returns all blocks of a search for pairs as one.
inline Pairs all_pairs(PairSearch search) {
  Pairs all, block;
  while (search.next(block)) {
    all.arithmetic = block.arithmetic;
    all.first.insert(all.first.end(), block.first.begin(), block.first.end());
    all.second.insert(all.second.end(), block.second.begin(), block.second.end());
    all.distance.insert(all.distance.end(), block.distance.begin(), block.distance.end());
    all.distance64.insert(all.distance64.end(), block.distance64.begin(), block.distance64.end());
  }
  return all;
}

/// Returns the pairs among rows, by within() of each row.
inline Pairs pairs_of(const RadiusNeighbors& found) {
  Pairs pairs;
  for (std::int64_t i = 0; i < found.queries; ++i)
    for (std::size_t at = size(found.first[size(i)]); at < size(found.first[size(i) + 1]); ++at) {
      if (found.row[at] <= i) continue;
      pairs.first.push_back(i);
      pairs.second.push_back(found.row[at]);
      pairs.distance.push_back(found.distance[at]);
    }
  return pairs;
}

}  // namespace kith::tests
