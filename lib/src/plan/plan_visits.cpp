#include "plan/plan_visits.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kith/spi.hpp"
#include "plan/guess.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"

namespace kith {

/// Chooses blocks so small that the first step sees several of them and many more are left. The first step
/// has no threshold, and lists all rows that it sees. A library multiplies large blocks faster; its
/// candidates are ranked after each step.
void visit_blocks(const Problem& problem, const SearchOptions& options, Choice& choice) {
  constexpr std::int64_t most_rows = 1024, share = 512, places_for_bytes = 4000;
  const bool library = !has_own_order(choice.proposer);
  const std::int64_t blocks = library ? 64 : 2048;
  choice.visit_rows =
      std::min(most_rows, whole_quantized_blocks(std::max<std::int64_t>(problem.n / blocks, 1)));
  if (library && options.train_tile)  // rows are in plain order, so that blocks may have any size
    choice.visit_rows = std::min(choice.visit_rows, options.train_tile);
  const std::int64_t seed =
      options.train_tile ? options.train_tile : std::max(4 * problem.k, problem.n / share);
  choice.seed_rows = std::min(std::max(seed, choice.visit_rows), choice.train_tile);
  // A list has room for what the first step sees, and for some blocks whose rows are nearer than all before
  // them. Bounds of bytes are farther apart, and let more rows pass.
  choice.candidates = std::max(choice.candidates, 2 * choice.seed_rows);
  if (!library) choice.candidates = std::max(choice.candidates, 8 * choice.visit_rows);
  if (spi::multiplies_bytes(choice.proposer))
    choice.candidates = std::max(choice.candidates, places_for_bytes);
}

namespace {

/// The steps of a search by tensor cores.
struct Steps {
  std::int64_t sample;  ///< rows; 0: the first step lists all it sees
  std::int64_t growth;
  double places;  ///< length that hardly any list exceeds
  double seconds = std::numeric_limits<double>::max();
};

/// How much more a proposer lists than fp16 or int8, on data for which rules choose it.
struct Coarse {
  double seconds = 1;  ///< factor of what a listed row costs
  double places = 1;   ///< factor of the length of lists
  std::int64_t most_sample = 32768;
};

/// Half bytes list some 40 times as many rows, most of which are in lists that one block reads. A larger
/// sample pays.
constexpr Coarse usual, half_bytes{15, 20, 131072};

/// Estimates the seconds of a step on an H200, without the products that every search needs. It was fitted to
/// steps of many sizes, with k from 5 to 2048 and 32768 to 10^7 rows.
class StepCost {
 public:
  StepCost(const Problem& problem, std::int64_t small_batch, const Coarse& coarse)
      : coarse_(coarse),
        queries_(static_cast<double>(problem.m)),
        pair_(6e-13 + 3.4e-15 * static_cast<double>(problem.dims)),
        small_batch_(problem.m <= small_batch) {}

  /// Estimates a sample of `rows` rows; their products are computed twice.
  double sample(double rows) const {
    return launches + (small_batch_ ? 1e-10 * rows : queries_ * (1e-9 + rows * pair_));
  }

  /// Estimates a step that grows by `growth` and lists rank * growth rows per query. With few queries one
  /// block handles each list, and bounds of int8 let more rows pass.
  double later(double rank, double growth) const {
    if (small_batch_) return launches + (8e-9 + 0.75e-9 * queries_) * coarse_.seconds * rank * growth;
    return launches + queries_ * (1e-9 + rank * (1e-10 * growth + 1.2e-11));
  }

  const Coarse& coarse() const { return coarse_; }

 private:
  static constexpr double launches = 20e-6;

  const Coarse coarse_;
  const double queries_, pair_;
  const bool small_batch_;
};

/// Estimates steps that begin with a sample and grow by `growth`; stops once they take `most` seconds.
Steps steps_of(const Problem& problem, const StepCost& cost, std::int64_t sample, std::int64_t growth,
               double most) {
  const double groups = static_cast<double>(sample) / spi::sample_rows;
  Steps steps{sample, growth, 0, cost.sample(static_cast<double>(sample))};
  std::int64_t seen = sample;
  for (std::int64_t listed = 0; listed < problem.n && steps.seconds < most;) {
    const std::int64_t more = std::min(seen * growth, problem.n - listed);
    auto rank = static_cast<double>(guessed_rank(problem.k, seen, problem.n));
    if (listed == 0) rank = rank_of_all(rank, groups);
    const double grows = static_cast<double>(more) / static_cast<double>(seen);
    steps.seconds += cost.later(rank, grows);
    steps.places = std::max(steps.places, (rank + most_passing(rank) * grows) * cost.coarse().places);
    listed += more;
    seen = listed;
  }
  return steps;
}

/// Returns whether a sample has at most half of the rows, and the guessed rank is at most 4/5 of its number
/// of groups: then its rank among all sampled rows is at most about twice as high.
bool is_sample(const Problem& problem, std::int64_t sample) {
  const std::int64_t groups = sample / spi::sample_rows;
  return 2 * sample <= problem.n && 5 * guessed_rank(problem.k, sample, problem.n) <= 4 * groups;
}

/// Returns the fastest steps whose lists stay short. Skips choices that cannot be better.
Steps best_steps(const Problem& problem, const StepCost& cost, std::int64_t sample_asked_for) {
  constexpr int most_steps = 12;
  constexpr double least_growth = 2, most_growth = 8192, most_places = 65536;
  constexpr std::int64_t fewest_rows = std::int64_t{4} * spi::quantized_block_rows, share = 4;
  const double places = std::max(most_places, 16.0 * static_cast<double>(problem.k));
  const std::int64_t least = sample_asked_for ? sample_asked_for : fewest_rows,
                     most = sample_asked_for ? sample_asked_for
                                             : std::min(cost.coarse().most_sample, problem.n / share);
  Steps best{0, 2, 0};
  for (std::int64_t sample = least; sample <= most; sample *= 2) {
    if (!is_sample(problem, sample)) continue;
    const double ratio = std::max(static_cast<double>(problem.n) / static_cast<double>(sample), 1.0);
    const double first = cost.sample(static_cast<double>(sample));
    for (int count = 1; count <= most_steps && first + count * cost.later(0, 0) < best.seconds; ++count) {
      const double growth = std::clamp(std::ceil(std::pow(ratio, 1.0 / count)), least_growth, most_growth);
      const Steps steps = steps_of(problem, cost, sample, static_cast<std::int64_t>(growth), best.seconds);
      if (steps.seconds < best.seconds && steps.places <= places) best = steps;
    }
  }
  return best;
}

/// Returns best_steps(). Every search asks for them, and most as the one before did; finding them takes 50 to
/// 100 us.
Steps best_steps_again(const Problem& problem, std::int64_t small_batch, const Coarse& coarse,
                       std::int64_t sample_asked_for) {
  struct Asked {
    std::int64_t n = 0, m = 0, dims = 0, k = 0, small_batch = 0, sample = 0;
    const Coarse* coarse = nullptr;
    bool operator==(const Asked&) const = default;
  };
  static thread_local Asked last;
  static thread_local Steps found;
  const Asked asked{problem.n, problem.m, problem.dims, problem.k, small_batch, sample_asked_for, &coarse};
  if (asked != last) {
    found = best_steps(problem, StepCost(problem, small_batch, coarse), sample_asked_for);
    last = asked;
  }
  return found;
}

}  // namespace

/// Chooses steps for tensor cores. These multiply so fast that listed candidates cost more than steps. With
/// few queries, whose lists are cheap, a step costs more than many candidates. The smallest blocks give the
/// best sample. For int8, many devices take only few queries at a time, no matter how many there are.
void visit_fast(const KernelProfile& profile, const Problem& problem, const SearchOptions& options,
                Choice& choice) {
  constexpr std::int64_t most_queries = 32768, places_of_few = 16384;
  constexpr std::int64_t few_neighbours = 256, fewest_of_many = 32 * few_neighbours;
  constexpr std::int64_t fewest_rows = std::int64_t{4} * spi::quantized_block_rows;
  constexpr std::int64_t queries_a_block = 256;  // queries per block of the kernels for many queries
  constexpr double multiply_adds_a_step = 1e14;  // a third of a second of an H200
  const std::int64_t small_batch = profile.small_batch;
  const bool bytes = spi::multiplies_bytes(choice.proposer);
  const std::int64_t takes =
      choice.proposer == Proposer::int4 ? small_batch : std::int64_t{profile.byte_queries};
  const std::int64_t most = bytes ? std::min(most_queries, takes) : most_queries;
  const bool few = std::min(problem.m, most) <= small_batch;
  Problem at_once = problem;
  if (bytes) at_once.m = std::min(problem.m, most);
  // A step needs 12 bytes of scratch for each of its rows.
  constexpr std::int64_t most_rows_a_step = std::int64_t{1} << 26;
  if (!options.train_tile) choice.train_tile = std::min(choice.train_tile, most_rows_a_step);
  const std::int64_t asked_for = whole_quantized_blocks(options.train_tile);
  const Steps steps = best_steps_again(at_once, small_batch,
                                       choice.proposer == Proposer::int4 ? half_bytes : usual, asked_for);
  choice.visit_rows = spi::quantized_block_rows;
  choice.seed_rows = asked_for ? asked_for : careful_seed(problem.k, fewest_rows);
  choice.sample_rows = steps.sample;
  choice.growth = steps.growth;
  // Bounds differ from distances. With few queries, and with bytes, they come from int8 and are
  // farther apart.
  const auto places = static_cast<std::int64_t>(steps.places * (few || bytes ? 2 : 1.25));
  // After a wrong guess, lists must hold what careful steps list (attempts.cpp).
  const std::int64_t rest = problem.k <= few_neighbours ? places_a_neighbour * problem.k : fewest_of_many;
  choice.candidates = std::max({few ? places_of_few : fewest_places, rest, places,
                                2 * careful_seed(problem.k, choice.seed_rows),
                                steps.sample / (2 * std::int64_t{spi::sample_rows})});
  const double multiply_adds = static_cast<double>(problem.n) * static_cast<double>(problem.dims);
  auto in_time = static_cast<std::int64_t>(multiply_adds_a_step / multiply_adds);
  if (in_time > queries_a_block) in_time -= in_time % queries_a_block;
  choice.query_tile = std::clamp(in_time, std::min(std::int64_t{spi::quantized_block_rows}, most), most);
}

}  // namespace kith
