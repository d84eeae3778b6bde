#include "tiles/tiles.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "kith/error.hpp"
#include "plan/guess.hpp"
#include "plan/product_bounds.hpp"
#include "plan/proposal_sizes.hpp"

namespace kith {
namespace {

/// Returns how many rows a step takes that comes after `before` rows.
std::int64_t rows_of_step(const Attempt& attempt, const Plan& plan, std::int64_t before) {
  if (before == 0) return std::min(attempt.seed_rows, attempt.step_rows);
  const bool grows = before < attempt.step_rows / attempt.growth;
  const std::int64_t rows = grows ? before * attempt.growth : attempt.step_rows;
  return std::min(has_own_order(plan.proposer) ? whole_quantized_blocks(rows) : rows, attempt.step_rows);
}

/// Returns the visits of a chunk. Each moves on by about 0.618 of its blocks, which never leaves a large gap
/// (Knuth, The Art of Computer Programming 3, 6.4), and visits no block twice.
spi::Visits all_visits(const Plan& plan, std::int64_t rows) {
  const auto blocks = static_cast<std::uint32_t>((rows + plan.visit_rows - 1) / plan.visit_rows);
  auto stride = static_cast<std::uint32_t>(0.6180339887 * static_cast<double>(blocks));
  stride = std::max(stride, 1u);
  while (std::gcd(stride, blocks) != 1) ++stride;
  return {static_cast<std::uint32_t>(plan.visit_rows), 0, blocks, blocks, stride};
}

/// Returns how many visits replace a tile of `rows` rows.
std::uint32_t visits_of(const Plan& plan, std::int64_t rows) {
  return static_cast<std::uint32_t>(std::max<std::int64_t>(rows / plan.visit_rows, 1));
}

/// Returns whether it is faster to rank all rows that pass after a sample than to thin them first, which
/// takes two kernels.
bool is_soon_ranked(const Plan& plan) {
  constexpr double few_bytes = 6e6;
  const Problem& p = plan.problem;
  const auto sample = static_cast<double>(plan.sample_rows), n = static_cast<double>(p.n);
  const auto rank = static_cast<double>(guessed_rank(p.k, plan.sample_rows, p.n));
  const double listed = rank_of_all(rank, sample / spi::sample_rows) * n / sample;
  return listed * static_cast<double>(std::min(p.m, plan.query_tile) * p.dims) * sizeof(float) <= few_bytes;
}

}  // namespace

spi::RowBlocks Tile::rows_on_device(const ResidentRows& index) const {
  const spi::RowBlocks blocks = row_blocks(index);
  if (!blocks.memory)
    throw Error(Errc::device_failure,
                "search: the chain wants rows " + std::to_string(first) + " and following, but " +
                    index.device.info().spec +
                    " has only their quantized rows; choose residence stream, and report this");
  return blocks;
}

std::vector<Tile> train_tiles(const ResidentRows& index, const Plan& plan) {
  std::vector<Tile> tiles;
  for (std::size_t chunk = 0; chunk < index.chunks.size(); ++chunk) {
    const std::int64_t begin = index.chunks[chunk].first, end = begin + index.chunks[chunk].rows;
    for (std::int64_t first = begin; first < end; first += tiles.back().rows)
      tiles.push_back({chunk, first, std::min(plan.train_tile, end - first)});
  }
  return tiles;
}

std::vector<Phase> phases(const ResidentRows& index, const Plan& plan, const Attempt& attempt) {
  const std::int64_t k = plan.problem.k, n = plan.problem.n;
  const bool guesses = attempt.way == Attempt::Way::guess, keeps_bounds = has_own_order(plan.proposer);
  std::vector<Phase> all;
  if (guesses && plan.sample_rows > 0) {
    const spi::Visits sample = sample_visits(plan);
    all.push_back({0, sample, false, guessed_rank(k, std::int64_t{sample.count} * plan.visit_rows, n), true});
  }
  const std::size_t first = all.size();
  for (std::size_t chunk = 0; chunk < index.chunks.size(); ++chunk) {
    const spi::Visits whole = all_visits(plan, index.chunks[chunk].rows);
    for (spi::Visits part = whole; part.first < whole.count; part.first += part.count) {
      const std::int64_t before = index.chunks[chunk].first + std::int64_t{part.first} * plan.visit_rows;
      part.count = std::min(visits_of(plan, rows_of_step(attempt, plan, before)), whole.count - part.first);
      const bool ends = part.first + part.count == whole.count;
      const std::int64_t seen = before + std::int64_t{part.count} * plan.visit_rows;
      all.push_back({chunk, part, ends || !keeps_bounds, guesses && !ends ? guessed_rank(k, seen, n) : k});
      all.back().thins = keeps_bounds;
      if (guesses && ends && before == 0 && plan.sample_rows > 0) all.back().thins = !is_soon_ranked(plan);
    }
  }
  std::find_if(all.begin(), all.end(), [](const Phase& phase) { return phase.ranks; })->afresh = true;
  all[first].open = first == 0 && attempt.way != Attempt::Way::longer;
  return all;
}

spi::Visits sample_visits(const Plan& plan) {
  spi::Visits visits = all_visits(plan, plan.problem.n);
  visits.count = std::min(visits.count, visits_of(plan, plan.sample_rows));
  return visits;
}

spi::Visits largest_visits(const Plan& plan) {
  if (!has_own_order(plan.proposer)) return {};
  spi::Visits visits = all_visits(plan, plan.problem.n);
  visits.count = std::min(visits.count, visits_of(plan, plan.train_tile));
  return visits;
}

}  // namespace kith
