#include "plan_visits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "guess.hpp"
#include "kith/spi.hpp"
#include "shadow.hpp"

namespace kith {

/// Blocks small enough that the first step sees several, and a hundred times as many as there are; the first
/// step without any bound lists all it sees.
void visit_blocks(const Problem& problem, const PlanOptions& options, Choice& choice) {
  constexpr std::int64_t most_rows = 1024, share = 512;
  choice.visit_rows = std::min(most_rows, whole_shadow_rows(std::max<std::int64_t>(problem.n / 2048, 1)));
  const std::int64_t seed =
      options.train_tile ? options.train_tile : std::max(4 * problem.k, problem.n / share);
  choice.seed_rows = std::min(std::max(seed, choice.visit_rows), choice.train_tile);
  // A list holds what the first step sees, and some blocks that are nearer than all before.
  choice.candidates = std::max({choice.candidates, 2 * choice.seed_rows, 8 * choice.visit_rows});
}

namespace {

constexpr std::int64_t few_queries = 64;

/// Steps of a search of tensor cores.
struct Steps {
  std::int64_t seed;
  std::int64_t growth;
  double places;  ///< that hardly any list exceeds
  double seconds = std::numeric_limits<double>::max();
};

/// Seconds of an H200 for a step, beside the products: fitted to what steps of many sizes took, with k from 5
/// to 2048 of 32768 to 10^7 rows.
class StepCost {
 public:
  explicit StepCost(std::int64_t queries)
      : queries_(static_cast<double>(queries)), few_(queries <= few_queries) {}

  /// The first, which lists all `rows` it sees: below a million in all they take no longer.
  double first(double rows) const {
    return launches + (few_ ? 2.5e-9 * rows : 2.5e-11 * std::max(rows * queries_, 1e6));
  }

  /// One that grows by `growth` and lists rank * growth rows a query. For few queries a block goes through
  /// each list, and bounds of int8 let more pass.
  double later(double rank, double growth) const {
    if (few_) return launches + (8e-9 + 0.75e-9 * queries_) * rank * growth;
    return launches + queries_ * (1e-9 + rank * (1e-10 * growth + 1.2e-11));
  }

 private:
  static constexpr double launches = 20e-6;

  const double queries_;
  const bool few_;
};

/// What steps that begin with `seed` rows and grow by `growth` take, if it is less than `most` seconds.
Steps steps_of(const Problem& problem, const StepCost& cost, std::int64_t seed, std::int64_t growth,
               double most) {
  Steps steps{seed, growth, static_cast<double>(seed), cost.first(static_cast<double>(seed))};
  for (std::int64_t seen = seed; seen < problem.n && steps.seconds < most;) {
    const std::int64_t more = std::min(seen * growth, problem.n - seen);
    const auto rank = static_cast<double>(guessed_rank(problem.k, seen, problem.n));
    const double grows = static_cast<double>(more) / static_cast<double>(seen);
    steps.seconds += cost.later(rank, grows);
    steps.places = std::max(steps.places, rank + most_passing(rank) * grows);
    seen += more;
  }
  return steps;
}

/// The steps that are soonest done, among those whose lists stay short. Every search asks, so what cannot be
/// better is not looked into.
Steps best_steps(const Problem& problem, std::int64_t queries, std::int64_t seed_asked_for) {
  constexpr int most_steps = 12;
  constexpr double least_growth = 2, most_growth = 4096, most_places = 65536;
  constexpr std::int64_t fewest_rows = std::int64_t{4} * spi::shadow_rows, share = 4;
  const StepCost cost(queries);
  const double places = std::max(most_places, 16.0 * static_cast<double>(problem.k));
  const std::int64_t least = seed_asked_for ? seed_asked_for : fewest_rows,
                     most = seed_asked_for ? seed_asked_for : std::max(fewest_rows, problem.n / share);
  Steps best{least, 2, static_cast<double>(least)};
  for (std::int64_t seed = least; seed <= most; seed *= 2) {
    const double ratio = std::max(static_cast<double>(problem.n) / static_cast<double>(seed), 1.0);
    const double first = cost.first(static_cast<double>(seed));
    for (int count = 1; count <= most_steps && first + count * cost.later(0, 0) < best.seconds; ++count) {
      const double growth =
          std::clamp(std::ceil(std::pow(ratio, 1.0 / count)) - 1, least_growth, most_growth);
      const Steps steps = steps_of(problem, cost, seed, static_cast<std::int64_t>(growth), best.seconds);
      if (steps.seconds < best.seconds && steps.places <= places) best = steps;
    }
  }
  return best;
}

}  // namespace

/// Tensor cores multiply so fast that what is listed costs more than steps, and with few queries, whose lists
/// take little, a step costs more than many candidates. The smallest blocks make the best sample. int8 takes
/// few queries at a time, however many there are.
void visit_fast(const Problem& problem, const PlanOptions& options, Choice& choice) {
  constexpr std::int64_t most_queries = 32768, places_of_few = 16384;
  constexpr std::int64_t few_neighbours = 256, fewest_of_many = 32 * few_neighbours;
  constexpr double folds_a_step = 1e14;  // a third of a second of an H200
  const bool bytes = choice.proposer == Proposer::int8, few = bytes || problem.m <= few_queries;
  choice.visit_rows = spi::shadow_rows;
  const Steps steps = best_steps(problem, few ? std::min(problem.m, few_queries) : problem.m,
                                 whole_shadow_rows(options.train_tile));
  choice.seed_rows = std::min(steps.seed, choice.train_tile);
  choice.growth = steps.growth;
  // Bounds are not the distances themselves: of few queries they are those of int8, and further apart.
  const auto places = static_cast<std::int64_t>(steps.places * (few ? 2 : 1.25));
  // Where the guess was wrong, lists hold what careful steps list (tiles.cpp).
  const std::int64_t rest = problem.k <= few_neighbours ? places_a_neighbour * problem.k : fewest_of_many;
  choice.candidates = std::max({few ? places_of_few : fewest_places, rest, places, 2 * choice.seed_rows,
                                2 * careful_seed(problem.k, choice.seed_rows)});
  const double folds = static_cast<double>(problem.n) * static_cast<double>(problem.dims);
  const auto in_time = static_cast<std::int64_t>(folds_a_step / folds);
  choice.query_tile = bytes ? few_queries : std::clamp(in_time, std::int64_t{spi::shadow_rows}, most_queries);
}

}  // namespace kith
