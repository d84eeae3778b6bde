#include "tiles.hpp"

#include <algorithm>

#include "shadow.hpp"

namespace kith {
namespace {

constexpr std::int64_t growth = 2;  // rows of a proposed tile for each row before it

std::int64_t rows_of_tile(const Plan& plan, std::int64_t before) {
  if (plan.proposer == Proposer::none) return plan.train_tile;
  if (before == 0) return plan.seed_rows;
  const std::int64_t rows = before < plan.train_tile / growth ? before * growth : plan.train_tile;
  return has_own_order(plan.proposer) ? whole_shadow_rows(rows) : rows;
}

}  // namespace

std::vector<Tile> train_tiles(const Index::State& index, const Plan& plan) {
  std::vector<Tile> tiles;
  for (std::size_t chunk = 0; chunk < index.chunks.size(); ++chunk) {
    const std::int64_t begin = index.chunks[chunk].first, end = begin + index.chunks[chunk].rows;
    for (std::int64_t first = begin; first < end; first += tiles.back().rows)
      tiles.push_back({chunk, first, std::min(rows_of_tile(plan, first), end - first)});
  }
  return tiles;
}

}  // namespace kith
