#include "plan/guess.hpp"

#include <cmath>

namespace kith {
namespace {

constexpr double hardly_ever = 16;  ///< -log of the odds

}  // namespace

/// Of the k nearest a sample holds about k seen / n, by the hypergeometric distribution; Chernoff's bound for
/// it (Hoeffding, Probability inequalities for sums of bounded random variables, 1963) is exp(-f(rank)). f is
/// convex: Newton's steps from a place where f is large enough (Bernstein's bound) never go too far.
std::int64_t guessed_rank(std::int64_t k, std::int64_t seen, std::int64_t n) {
  constexpr int steps = 5;
  const double expected = static_cast<double>(k) * static_cast<double>(seen) / static_cast<double>(n);
  constexpr double third = hardly_ever / 3;
  double rank = expected + third + std::sqrt(2 * hardly_ever * expected + third * third);
  for (int i = 0; i < steps; ++i) {
    const double slope = std::log(rank / expected);
    rank -= (rank * slope - rank + expected - hardly_ever) / slope;
  }
  return std::min(static_cast<std::int64_t>(std::ceil(rank)), k);
}

/// The rank-th of a Poisson process is behind x with a chance of at most exp(rank - x) (x / rank)^rank; as
/// above.
double most_passing(double rank) {
  constexpr int steps = 5;
  double x = rank + 2 * hardly_ever + std::sqrt(4 * hardly_ever * rank);
  for (int i = 0; i < steps; ++i) x -= (x - rank - rank * std::log(x / rank) - hardly_ever) / (1 - rank / x);
  return x;
}

/// Of rows in order, each in a group of its own choice, (groups - i) / groups begin a group when i have been
/// begun: the sum of groups / (groups - i), i < rank, is an integral, and hardly less.
double rank_of_all(double rank, double groups) {
  return -groups * std::log(1 - rank / groups);
}

}  // namespace kith
