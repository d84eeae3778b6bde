// Computes distances of samples in double precision by tiles, and sums them on the host.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "kith/trace.hpp"
#include "search/doubles/double_ranking.hpp"
#include "structure/structure_sums.hpp"
#include "structure/structure_tiles.hpp"

namespace kith {

/// The raw values of samples first ... first + count - 1 with samples row ... row + width - 1.
struct DoubleTile {
  std::int64_t first, count, row, width;
  std::span<const double> values;  ///< [count, width]
};

/// Computes the raw values of samples with all samples, tile by tile.
class DoubleTiles {
 public:
  using Take = std::function<void(const DoubleTile& tile)>;
  /// Receives the query tiles that are complete. Called without a lock.
  using Done = std::function<void(std::int64_t first, std::int64_t count)>;

  /// What `samples` refers to and `options` must outlive this.
  ///   classes  for which sums are kept; 0: for none
  /// Throws as sums_tiles() and prepare_ranker() do.
  DoubleTiles(const RankedAmong& samples, std::int64_t classes, const SearchOptions& options);

  /// Passes the tiles of samples first ... first + count - 1 to `take`: query tiles ascend, and in each the
  /// rows. Throws interrupted if it is asked to stop.
  void walk(std::int64_t first, std::int64_t count, const Take& take, const Done& done, Trace* trace);

  /// Returns the number of samples of a query tile, and of the samples that it is compared with.
  const SumsTiles& sizes() const { return tiles_; }

 private:
  void start(Trace& trace, std::int64_t count) const;
  PreparedDoubles samples_between(std::int64_t first, std::int64_t count) const;

  const RankedAmong samples_;
  const SearchOptions& options_;
  const std::int64_t classes_;
  const SumsTiles tiles_;
  DoubleRanking ranking_;
};

/// Sums of doubles: docs/contract.md, section 11.
using DoubleTileSums = TileSumsOf<double>;

/// Sums the distances of all samples to each class, in the order of the samples.
///   codes  [n]  their classes
/// Throws as DoubleTiles do.
void run_double_sums(const RankedAmong& samples, std::span<const std::uint32_t> codes, std::int64_t classes,
                     const SearchOptions& options, Trace* trace,
                     const std::function<void(const DoubleTileSums& sums)>& take);

}  // namespace kith
