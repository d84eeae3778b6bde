// Guesses thresholds from a sample of the training rows; they are certified afterwards. docs/certificate.md,
// section 5.
#pragma once

#include <algorithm>
#include <cstdint>

namespace kith {

/// Returns r <= k such that the r nearest of `seen` of n rows, in random order, are hardly ever all among the
/// k nearest of the n: for one query in ten million. r = k is no guess.
std::int64_t guessed_rank(std::int64_t k, std::int64_t seen, std::int64_t n);

/// Bounds how many rows pass the `rank`-th nearest of those seen as a threshold, among as many further rows
/// as have been seen: hardly ever more pass. On average `rank` do.
double most_passing(double rank);

/// Returns the average rank, among all rows, of the `rank`-th smallest of the minima of `groups` groups of
/// equally many rows, in random order; rank < groups.
double rank_of_all(double rank, double groups);

/// Returns how much of the way from the lower to the upper bound of a chain a guess goes, at least 0.5, the
/// middle: so far that hardly any chain is beyond it. docs/certificate.md, section 4.
float guessed_gap_share(std::int64_t dims);

/// Returns the rows of the first step without a guess: enough for k neighbours and a useful bound.
constexpr std::int64_t careful_seed(std::int64_t k, std::int64_t seed_rows) {
  return std::max(4 * k, seed_rows);
}

/// Returns the growth of these steps, such that a list holds twice what a step lists.
constexpr std::int64_t careful_growth(std::int64_t k, std::int64_t candidates, std::int64_t growth) {
  return std::min(growth, std::max<std::int64_t>(candidates / (2 * k) - 1, 2));
}

}  // namespace kith
