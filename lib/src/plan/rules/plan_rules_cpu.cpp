#include <algorithm>

#include "plan/reasons.hpp"
#include "plan/rules/plan_rules.hpp"

namespace kith {
namespace {

// A running step cannot be stopped, and takes several times as long if other programs use the cores.
constexpr double step_seconds = 0.25;
constexpr std::int64_t query_block = 8, most_queries = 1 << 16;
// The most distances of a step that writes them, if the caller names no selector: enough to divide among
// threads, and little memory. With 128 queries or more per step, longer training tiles were as fast as
// shorter ones, or faster.
constexpr std::int64_t most_written = 1 << 24, queries_a_step = 128;

/// Returns roughly how many pairs one thread compares in a second, so that no step takes long. Measured on
/// one core at 3.9 GHz: 5.9e10 pairs times dims per second for avx512, 3.8e10 for avx2, 6e8 without vectors.
/// neon is not measured; its registers are half of avx2's, and so is its rate here. A pair costs as much as
/// dims + 4 dimensions.
double pairs_a_second(const DeviceInfo& device, std::int64_t dims) {
  const std::uint32_t floats = device.profile.vector_floats;
  const double rate = floats >= 16 ? 5e10 : floats >= 8 ? 3e10 : floats >= 4 ? 1.5e10 : 5e8;
  return rate / static_cast<double>(dims + 4);
}

/// Returns how many seconds a sequential method takes for one key of a part of t rows.
double seconds_a_key(Selector selector, std::int64_t t, std::int64_t k) {
  switch (selector) {
    case Selector::rank_sort:
      return 1e-9 * static_cast<double>(t);
    case Selector::selection_sort:
      return 1e-9 * static_cast<double>(std::min(k, t));
    case Selector::merge_sort:
    case Selector::quick_sort:
      return 1e-7;
    default:
      return 1e-9;
  }
}

/// Returns how many queries a tile has when `total` queries are divided into tiles of nearly equal length:
/// whole query blocks, and hardly more than `tile`.
std::int64_t even_tile(std::int64_t total, double tile) {
  const auto most = std::clamp(tile, static_cast<double>(query_block), static_cast<double>(most_queries));
  const std::int64_t tiles =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(static_cast<double>(total) / most + 0.999999));
  const std::int64_t even = (total + tiles - 1) / tiles;
  return std::max<std::int64_t>(1, (even + query_block - 1) / query_block * query_block);
}

/// Returns the number of lists per query that gives all threads training rows to scan, even with few queries.
std::int64_t lists_for(const Problem& problem, std::int64_t threads) {
  const std::int64_t blocks = std::max<std::int64_t>(1, (problem.m + query_block - 1) / query_block);
  const std::int64_t wanted = (4 * threads + blocks - 1) / blocks;
  const std::int64_t least_rows = std::max<std::int64_t>(4096, 2 * problem.k);
  return std::clamp<std::int64_t>(problem.n / least_rows, 1, wanted);
}

}  // namespace

Choice choose_cpu(const DeviceInfo& device, const Problem& problem, const SearchOptions& options) {
  const std::int64_t threads = options.threads ? options.threads : device.compute_units;
  Choice choice;
  choice.fused = true;
  choice.reason = reasons::fused_on_host();
  choice.lists = threads > 1 ? lists_for(problem, threads) : 1;
  double pair_seconds = 1 / pairs_a_second(device, problem.dims);
  std::int64_t most_rows = problem.n;
  if (options.selector != Selector::automatic) {
    most_rows = std::min<std::int64_t>(problem.n, 1 << 14);  // distances of a tile stay in cache
    pair_seconds += seconds_a_key(options.selector, most_rows, problem.k);
  }
  // A step has at least one block of queries. If even this takes too long, it has fewer training rows.
  double pairs = step_seconds * static_cast<double>(threads) / pair_seconds;
  if (options.fused == false && options.selector == Selector::automatic) {
    most_rows = std::min(problem.n, std::max(most_written / queries_a_step, 4 * problem.k));
    pairs = std::min(pairs, static_cast<double>(most_written));
  }
  const double fitting = std::clamp(pairs / query_block, 1024.0, static_cast<double>(most_rows));
  choice.train_tile = std::min(most_rows, std::max<std::int64_t>(1, static_cast<std::int64_t>(fitting)));
  choice.query_tile = even_tile(problem.m, pairs / static_cast<double>(choice.train_tile));
  return choice;
}

}  // namespace kith
