#include <algorithm>

#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"

namespace kith {
namespace {

// Steps are planned to take 0.3 s at about half the speed measured with PoCL 3.1 on a core of 2.6 GHz with
// AVX-512, so that a search can be stopped within a second even on a slower core.
constexpr double seconds_a_step = 0.3;
// This is half of the 4e10 that a core reached. A pair costs as much as dims + 4 multiply-adds.
constexpr double multiply_adds_a_second = 2e10;
constexpr std::int64_t queries_a_block = 8, cached_queries = 1024;

/// Returns from how many pairs per second one core selects by `selector`, in rows of t distances.
double pairs_a_second(Selector selector, std::int64_t t, std::int64_t k) {
  switch (selector) {
    case Selector::k_min:
      return 2e8 / static_cast<double>(std::min<std::int64_t>(k, 1024));
    case Selector::local_sort:
    case Selector::merge_sort:
      return 5e6;
    case Selector::bitonic:
      return 2e6;
    case Selector::rank_sort:
      return 2e9 / static_cast<double>(t);
    case Selector::odd_even:
      return 5e8 / static_cast<double>(t);
    case Selector::bubble:
      return 2e8 / static_cast<double>(k);
    case Selector::radix:
      return 5e6;
    case Selector::insertion: {
      const std::int64_t lines = 1 + k / 64;
      return 1e8 / static_cast<double>(lines);
    }
    default:
      return 5e7;
  }
}

std::int64_t whole(double value, std::int64_t most) {
  return static_cast<std::int64_t>(
      std::clamp(value, 1.0, static_cast<double>(std::max<std::int64_t>(most, 1))));
}

/// Returns `tile` or less, so that all tiles of `total` have about the same length.
std::int64_t even_tile_of_rows(std::int64_t total, std::int64_t tile) {
  const std::int64_t tiles = std::max<std::int64_t>(1, (total + tile - 1) / tile);
  return std::max<std::int64_t>(1, (total + tiles - 1) / tiles);
}

/// Returns the number of lists per query that gives all cores training rows to visit, even with few queries.
std::int64_t lists_for_cores(const Problem& problem, std::int64_t cores) {
  const std::int64_t blocks = std::max<std::int64_t>(1, (problem.m + queries_a_block - 1) / queries_a_block);
  const std::int64_t least_rows = std::max<std::int64_t>(2048, 8 * problem.k);
  return std::clamp<std::int64_t>(problem.n / least_rows, 1,
                                  std::max<std::int64_t>(1, (4 * cores + blocks - 1) / blocks));
}

/// Takes all training rows at once if the queries that share them in the cache then end in time; otherwise
/// takes fewer rows, but enough to be worth another list of k.
void choose_tiles(const Problem& problem, double pairs, Choice& choice) {
  const double n = static_cast<double>(problem.n), m = static_cast<double>(problem.m);
  const double queries = std::max(pairs / n, std::min(m, static_cast<double>(cached_queries)));
  const std::int64_t least_rows = std::min(problem.n, std::max<std::int64_t>(4096, 16 * problem.k));
  choice.train_tile = even_tile_of_rows(problem.n, std::max(least_rows, whole(pairs / queries, problem.n)));
  const std::int64_t tile =
      even_tile_of_rows(problem.m, whole(pairs / static_cast<double>(choice.train_tile), problem.m));
  choice.query_tile = (tile + queries_a_block - 1) / queries_a_block * queries_a_block;
}

}  // namespace

Choice choose_opencl_cpu(const DeviceInfo& device, const Problem& problem, const SearchOptions& options) {
  const auto cores = std::max<std::int64_t>(1, device.compute_units);
  const bool named = options.selector != Selector::automatic;
  Choice choice;
  choice.lists = lists_for_cores(problem, cores);
  // A heap of k is kept while chains are computed, if few rows enter it.
  const bool fits = static_cast<std::uint64_t>(problem.k) <= device.fused_max_k;
  choice.fused = options.fused.value_or(!named && fits && (problem.k <= 256 || problem.k <= problem.n / 32));
  choice.selector = named ? options.selector : problem.k <= 256 ? Selector::insertion : Selector::radix;
  choice.reason = choice.fused       ? reasons::fused_on_host()
                  : problem.k <= 256 ? reasons::sorted_lists()
                                     : reasons::sorts_most();
  const double multiply_add_seconds = static_cast<double>(problem.dims + 4) / multiply_adds_a_second;
  const double budget = seconds_a_step * static_cast<double>(cores);
  choose_tiles(problem, budget / multiply_add_seconds, choice);
  if (choice.fused) return choice;
  // The cost of selecting depends on the tile, and the tile on this cost, so it is iterated.
  for (int round = 0; round < 4; ++round) {
    const double seconds =
        multiply_add_seconds + 1 / pairs_a_second(choice.selector, choice.train_tile, problem.k);
    choose_tiles(problem, budget / seconds, choice);
  }
  return choice;
}

}  // namespace kith
