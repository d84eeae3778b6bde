// What a sample of the training rows says of all: thresholds that are guessed, and certified afterwards.
// docs/certificate.md, section 5.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith {

/// Of `seen` of n rows, in random order, so many of the nearest that hardly ever all of them are among the k
/// nearest of all: for one query in ten million. At most k: the k-th is no guess.
std::int64_t guessed_rank(std::int64_t k, std::int64_t seen, std::int64_t n);

/// How many rows, a number for each of those that have been seen, are hardly ever nearer than the `rank`-th
/// of these, which is `rank` on average.
double most_passing(double rank);

/// The `rank`-th smallest of the least of each of `groups` groups of equally many rows, in random order, is
/// so many-th smallest of all rows, on average; rank < groups.
double rank_of_all(double rank, double groups);

/// Rows of the first of the steps that guess nothing: enough for k and a bound that means something.
constexpr std::int64_t careful_seed(std::int64_t k, std::int64_t seed_rows) {
  return std::max(4 * k, seed_rows);
}

/// By how much these grow, so that a list holds twice what a step lists.
constexpr std::int64_t careful_growth(std::int64_t k, std::int64_t candidates, std::int64_t growth) {
  return std::min(growth, std::max<std::int64_t>(candidates / (2 * k) - 1, 2));
}

}  // namespace kith
