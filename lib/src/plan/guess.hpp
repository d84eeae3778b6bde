// Guesses thresholds from a sample of the training rows, which are certified afterwards. docs/certificate.md,
// section 5.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith {

/// Returns a rank r <= k. The r nearest of `seen` of n rows, in random order, are almost never all among the
/// k nearest of the n: for at most one query in 400,000. With r = k nothing is guessed.
std::int64_t guessed_rank(std::int64_t k, std::int64_t seen, std::int64_t n);

/// Returns an upper bound for the number of rows that pass a threshold, if as many rows follow as were seen
/// before, and the threshold is the `rank`-th nearest of those. It is almost never exceeded; on average
/// `rank` rows pass.
double most_passing(double rank);

/// Takes the minima of `groups` groups of rows of equal size, in random order. Returns the average rank,
/// among all rows, of the `rank`-th smallest minimum; rank < groups.
double rank_of_all(double rank, double groups);

/// Returns how far a guess is on the way from the lower to the upper bound of a chain: at least 0.5, the
/// middle, and so far that almost no chain is beyond it. docs/certificate.md, section 4.
float guessed_gap_share(std::int64_t dims);

/// Returns the rows of the first step without a guess: enough for k neighbours and a useful bound.
constexpr std::int64_t careful_seed(std::int64_t k, std::int64_t seed_rows) {
  return std::max(4 * k, seed_rows);
}

/// Returns the growth of these steps, with which a list has room for twice what a step lists.
constexpr std::int64_t careful_growth(std::int64_t k, std::int64_t candidates, std::int64_t growth) {
  return std::min(growth, std::max<std::int64_t>(candidates / (2 * k) - 1, 2));
}

}  // namespace kith
