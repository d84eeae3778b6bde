// Sums up how many rows are within radii, of rows that are counted in parts.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <string>

#include "kith/matrix_view.hpp"

namespace kith {

/// Adds counts, those of each query or those of all queries together. Any thread may add.
class CountSum {
 public:
  ///   where    the function that is called, for messages
  ///   radii    counts of each query
  ///   totals   adds up the counts of all queries
  ///   counts   out: [queries, radii], whatever it holds; or of totals [radii], to which counts are added
  ///   threads  that add; 0: all cores
  CountSum(std::string where, std::int64_t radii, bool totals, std::span<std::int64_t> counts,
           std::uint32_t threads);

  const std::string& where() const { return where_; }

  /// Adds the counts of queries first, first + 1, ...
  ///   counts  [count, radii]
  void add(std::int64_t first, MatrixView<const std::uint32_t> counts);
  /// Returns a sum of queries first ... first + queries - 1 alone, which are in no other; finish() it, too.
  CountSum of_some(std::int64_t first, std::int64_t queries);
  /// Takes one row away from each of queries first, first + 1, ..., whose counts were added. Threads may take
  /// from different queries.
  ///   from  the first of the radii for which query first + i counted its row; or `radii`
  void take_away(std::int64_t first, std::span<const std::int64_t> from);
  /// Makes the counts of queries zero that were not added.
  void finish();

 private:
  void fill_up_to(std::int64_t query);
  void add_totals(std::span<const std::uint32_t> counts);

  const std::string where_;
  const std::int64_t radii_;
  const bool totals_;
  const std::uint32_t threads_;
  const std::span<std::int64_t> counts_;
  std::mutex mutex_;
  std::int64_t known_ = 0;  ///< queries before this one have counts
};

}  // namespace kith
