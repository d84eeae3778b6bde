#include "plan/guess.hpp"

#include <cmath>

namespace kith {
namespace {

// -log of the probability of a failure: a wrong guess costs a query a second search, a list that is too short
// costs it one with longer lists, and a high rank costs all queries rows that are listed in vain.
constexpr double wrong = 13, too_short = 16;

}  // namespace

/// A sample contains about k seen / n of the k nearest rows (hypergeometric distribution). Chernoff's bound
/// for it (Hoeffding, Probability inequalities for sums of bounded random variables, 1963) is
/// exp(-f(rank)). Because f is convex, Newton's steps from a rank with a large enough f (Bernstein's bound)
/// never go too far.
std::int64_t guessed_rank(std::int64_t k, std::int64_t seen, std::int64_t n) {
  constexpr int steps = 5;
  const double expected = static_cast<double>(k) * static_cast<double>(seen) / static_cast<double>(n);
  constexpr double third = wrong / 3;
  double rank = expected + third + std::sqrt(2 * wrong * expected + third * third);
  for (int i = 0; i < steps; ++i) {
    const double slope = std::log(rank / expected);
    rank -= (rank * slope - rank + expected - wrong) / slope;
  }
  return std::min(static_cast<std::int64_t>(std::ceil(rank)), k);
}

/// The probability that the rank-th point of a Poisson process is beyond x is at most exp(rank - x) (x /
/// rank)^rank. Newton's steps solve this, as above.
double most_passing(double rank) {
  constexpr int steps = 5;
  double x = rank + 2 * too_short + std::sqrt(4 * too_short * rank);
  for (int i = 0; i < steps; ++i) x -= (x - rank - rank * std::log(x / rank) - too_short) / (1 - rank / x);
  return x;
}

/// The error of a product is a sum of `dims` rounding errors of random signs; E adds up their magnitudes. The
/// standard deviation of the error is therefore about E / sqrt(dims) or less. The share covers three of
/// these, each of which is half a gap wide.
float guessed_gap_share(std::int64_t dims) {
  return static_cast<float>(std::min(0.5 + 1.5 / std::sqrt(static_cast<double>(dims)), 1.0));
}

/// Each row, in order, falls into a random group. Once i groups have a row, the next row falls into another
/// one with probability (groups - i) / groups. The expected number of rows is the sum of groups / (groups -
/// i) for i < rank. The integral is slightly less.
double rank_of_all(double rank, double groups) {
  return -groups * std::log(1 - rank / groups);
}

}  // namespace kith
