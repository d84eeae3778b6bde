#include "guess.hpp"

#include <cmath>

namespace kith {
namespace {

constexpr double hardly_ever = 16;  ///< -log of the odds

}  // namespace

/// Of the k nearest a sample holds about k seen / n, by the hypergeometric distribution; Chernoff's bound for
/// it (Hoeffding, Probability inequalities for sums of bounded random variables, 1963).
std::int64_t guessed_rank(std::int64_t k, std::int64_t seen, std::int64_t n) {
  const double expected = static_cast<double>(k) * static_cast<double>(seen) / static_cast<double>(n);
  const auto exponent = [&](double rank) { return rank * std::log(rank / expected) - rank + expected; };
  // Smaller than expected is no guess; the exponent grows from there on.
  std::int64_t low = static_cast<std::int64_t>(expected) + 1, high = k;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (exponent(static_cast<double>(middle)) >= hardly_ever)
      high = middle;
    else
      low = middle + 1;
  }
  return std::min(low, k);
}

/// The rank-th of a Poisson process is behind x with a chance of at most exp(rank - x) (x / rank)^rank.
double most_passing(double rank) {
  double low = rank, high = rank + hardly_ever + 8 * std::sqrt(hardly_ever * rank) + 1;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (middle - rank - rank * std::log(middle / rank) >= hardly_ever ? high : low) = middle;
  }
  return high;
}

}  // namespace kith
