// Tests what a sample says about all rows: docs/certificate.md, section 5.
#include "common/test.hpp"
#include "plan/guess.hpp"

namespace kith::tests {
namespace {

/// Returns the odds that a sample of `seen` of n rows has at least `rank` of the k nearest, all of these
/// being equally likely: the hypergeometric distribution, summed.
double odds(std::int64_t rank, std::int64_t k, std::int64_t seen, std::int64_t n) {
  const auto choose = [](double of, double some) {
    return std::lgamma(of + 1) - std::lgamma(some + 1) - std::lgamma(of - some + 1);
  };
  const auto all = static_cast<double>(n), sample = static_cast<double>(seen), near = static_cast<double>(k);
  double sum = 0;
  for (std::int64_t i = rank; i <= std::min(k, seen); ++i) {
    const auto some = static_cast<double>(i);
    if (sample - some > all - near) continue;
    sum += std::exp(choose(near, some) + choose(all - near, sample - some) - choose(all, sample));
  }
  return sum;
}

TEST_CASE("guess: hardly ever are as many of those seen among the k nearest") {
  constexpr double hardly_ever = 2.3e-6;
  for (const std::int64_t n : {600, 20000, 1000000})
    for (const std::int64_t k : {1, 2, 10, 25, 100, 300, 2048})
      for (const std::int64_t seen : {128, 512, 4096, 65536, 600000}) {
        if (seen >= n || k > n) continue;
        CAPTURE_ALL(n, k, seen);
        const std::int64_t rank = guessed_rank(k, seen, n);
        CHECK(rank >= 1);
        CHECK(rank <= k);
        if (rank == k) continue;
        CHECK(odds(rank, k, seen, n) <= hardly_ever);
        CHECK(rank <= 3 + 2 * k * seen / n + 24);  // not so high that guessing would not pay
      }
}

TEST_CASE("guess: all rows need no guess, and few of many neighbours are enough") {
  CHECK(guessed_rank(10, 1000, 1000) == 10);
  CHECK(guessed_rank(1, 5, 1000) == 1);
  CHECK(guessed_rank(2048, 8192, 1000000) == 42);
  CHECK(guessed_rank(10, 512, 1000000) == 3);
}

TEST_CASE("guess: hardly ever do more rows pass") {
  for (const double rank : {1.0, 3.0, 10.0, 117.0, 2000.0}) {
    CAPTURE(rank);
    const double most = most_passing(rank);
    double below = 0;  // fewer than `rank` events of a Poisson process with `most` on average
    for (double i = 0; i < rank; ++i) below += std::exp(i * std::log(most) - most - std::lgamma(i + 1));
    CHECK(below <= 1.2e-7);
    CHECK(below >= 1e-9);
  }
}

}  // namespace
}  // namespace kith::tests
