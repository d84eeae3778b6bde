#include <algorithm>
#include <cmath>
#include <limits>

#include "base/numbers.hpp"
#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"

namespace kith {
namespace {

// Up to this many distances, writing them is faster than selecting while they are computed.
constexpr std::int64_t most_in_memory = std::int64_t{1} << 24;

// A step should end within a third of a second, so that a search can be stopped, and its distances should
// leave memory for others.
constexpr double most_multiply_adds = 4e12;
constexpr std::int64_t most_distances = std::int64_t{1} << 30;

/// Returns into how many parts `tiles` of rows are cut so that `blocks * parts` blocks finish soonest; `wave`
/// blocks run at once. Beside its rows, a part costs about `overhead` tiles.
std::int64_t best_parts(std::int64_t blocks, std::int64_t wave, std::int64_t tiles) {
  constexpr std::int64_t most_waves = 4, overhead = 3;
  std::int64_t best = 1, best_cost = divide_up(blocks, wave) * (tiles + overhead);
  for (std::int64_t waves = 1; waves <= most_waves; ++waves) {
    const std::int64_t parts = std::clamp<std::int64_t>(waves * wave / blocks, 1, tiles);
    const std::int64_t cost = divide_up(blocks * parts, wave) * (divide_up(tiles, parts) + overhead);
    if (cost >= best_cost) continue;
    best = parts;
    best_cost = cost;
  }
  return best;
}

/// Returns the number of queries of a step, at most `most`: whole tiles if there are several.
std::int64_t query_tile(const Problem& problem, std::int64_t tile, std::int64_t most) {
  const double multiply_adds = static_cast<double>(problem.n) * static_cast<double>(problem.dims);
  const double in_time = most_multiply_adds / multiply_adds;
  if (in_time < static_cast<double>(most)) most = std::max(tile, static_cast<std::int64_t>(in_time));
  if (problem.m <= most) return std::max<std::int64_t>(problem.m, 1);
  return most > tile ? most / tile * tile : std::max<std::int64_t>(most, 1);
}

/// Returns roughly how many operations `selector` needs for a row of t distances; it estimates the time of
/// a step.
double operations_of(Selector selector, std::int64_t t, std::int64_t k) {
  const auto values = static_cast<double>(t), wanted = static_cast<double>(k);
  const double rounds = std::log2(values + 1);
  switch (selector) {
    case Selector::bubble:
      return 8 * values * wanted;
    case Selector::k_min:
      return 4 * values * std::min(wanted, 1024.0);
    case Selector::insertion:
      return 8 * values + 8 * wanted * wanted * rounds;
    case Selector::local_sort:
      return 200 * values;
    case Selector::bitonic:
      return 2 * values * rounds * rounds;
    case Selector::merge_sort:
      return 40 * values * rounds;
    case Selector::rank_sort:
      return 2 * values * values;
    case Selector::odd_even:
      return 4 * values * values;
    default:
      return 4 * values;
  }
}

/// Shortens a step by `selector` until it ends in time: first the training tile, until one query ends in
/// time, then the number of queries.
void limit_step(const DeviceInfo& device, Selector selector, const Problem& problem, Choice& choice) {
  constexpr double step_seconds = 0.3, operations_a_second_of_a_unit = 1.6e10;  // an eighth of an H200's
  const double most =
      step_seconds * operations_a_second_of_a_unit * std::max<std::uint32_t>(device.compute_units, 1);
  const std::int64_t least_rows = std::max<std::int64_t>(4096, 2 * problem.k);
  while (choice.train_tile > least_rows && operations_of(selector, choice.train_tile, problem.k) > most)
    choice.train_tile = (choice.train_tile + 1) / 2;
  const double rows = most / operations_of(selector, choice.train_tile, problem.k);
  if (rows < static_cast<double>(choice.query_tile))
    choice.query_tile = std::max<std::int64_t>(1, static_cast<std::int64_t>(rows));
}

/// Returns whether one launch finds the neighbours of a step of several queries at once, so that it
/// needs one list a query. Fewer rows are faster by a few lists.
bool finds_at_once(const KernelProfile& profile, const Problem& problem, std::int64_t queries) {
  constexpr std::int64_t fewest_queries = 5, fewest_rows = 4096;
  const std::int64_t padded = divide_up(queries, std::int64_t{profile.batch_queries}) * profile.batch_queries;
  return queries >= fewest_queries && problem.k <= profile.at_once_max_k && problem.n >= fewest_rows &&
         problem.n <= profile.pairs_at_once / padded;
}

void choose_fused(const DeviceInfo& device, const Problem& problem, Choice& choice) {
  const KernelProfile& profile = device.profile;
  const std::int64_t units = device.compute_units, tile = profile.tile_rows;
  choice.reason = reasons::fused_on_gpu();
  choice.query_tile = query_tile(problem, tile, 32768);
  if (choice.query_tile <= profile.small_batch && finds_at_once(profile, problem, choice.query_tile)) {
    choice.lists = 1;
  } else if (choice.query_tile <= profile.small_batch) {
    // Each list is one block for a batch of queries. There should be enough blocks to read memory at full
    // speed, and enough rows to be worth a list. A single query among few rows, which are read at
    // once, is faster with one or two blocks per multiprocessor, because there are fewer lists to select and
    // to merge.
    const std::int64_t large = profile.groups_a_unit * units;
    const bool at_once = choice.query_tile == 1 && problem.n <= large * profile.rows_at_once;
    const std::int64_t of_several = profile.batches_a_unit * units;
    const std::int64_t blocks = at_once ? large
                                : choice.query_tile <= 4
                                    ? 4 * units
                                    : of_several / divide_up(choice.query_tile, profile.batch_queries);
    const std::int64_t rows = std::max<std::int64_t>(choice.query_tile <= 4 ? 1024 : 512, 16 * problem.k);
    choice.lists = std::clamp<std::int64_t>(problem.n / rows, 1, std::max<std::int64_t>(blocks, 1));
  } else if (!profile.divides_rows) {
    choice.lists = best_parts(divide_up(choice.query_tile, tile), 2 * units, divide_up(problem.n, tile));
  }
}

void choose_separate(const DeviceInfo& device, const Problem& problem, Choice& choice) {
  choice.query_tile = query_tile(problem, device.profile.tile_rows,
                                 std::clamp<std::int64_t>(most_distances / problem.n, 1, 8192));
  if (problem.k > device.profile.threshold_max_k) {
    choice.selector = Selector::radix;
    choice.reason = reasons::large_k();
    return;  // a single list: merging several would cost more than it saves
  }
  choice.selector = Selector::threshold;
  choice.reason = reasons::small_buffer();
  // One block selects each list.
  const std::int64_t rows = std::max<std::int64_t>(8192, 16 * problem.k);
  const std::int64_t lists = 4 * std::int64_t{device.compute_units};
  choice.lists = std::clamp<std::int64_t>(std::min(lists / choice.query_tile, problem.n / rows), 1,
                                          std::numeric_limits<std::int32_t>::max());
}

}  // namespace

Choice choose_gpu(const DeviceInfo& device, const Problem& problem, const SearchOptions& options) {
  Choice choice;
  choice.train_tile = problem.n;
  const bool fits = static_cast<std::uint64_t>(problem.k) <= device.fused_max_k;
  // A block of the fused step handles 128 queries. With few distances, more blocks are busy if distances are
  // written: on an H200 this was 1.3 to 7 times faster with CUDA, and about as much with OpenCL.
  const bool few_distances =
      problem.m > device.profile.small_batch && problem.n <= most_in_memory / problem.m;
  choice.fused = options.fused.value_or(fits && options.selector == Selector::automatic && !few_distances);
  if (choice.fused) {
    choose_fused(device, problem, choice);
    return choice;
  }
  choose_separate(device, problem, choice);
  if (options.selector != Selector::automatic) limit_step(device, options.selector, problem, choice);
  return choice;
}

}  // namespace kith
