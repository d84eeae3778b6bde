// Sums up how many rows are within radii, of rows that are counted in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "kith/matrix_view.hpp"

namespace kith {

/// Adds counts, those of each query or those of all queries together. Any thread may add.
class CountSum {
 public:
  ///   where    the function that is called, for messages
  ///   radii    counts of each query
  ///   totals   adds up the counts of all queries
  CountSum(std::string where, std::int64_t queries, std::int64_t radii, bool totals);

  const std::string& where() const { return where_; }

  /// Adds the counts of queries first, first + 1, ...
  ///   counts  [count, radii]
  void add(std::int64_t first, MatrixView<const std::uint32_t> counts);
  /// Returns a sum for so many of the queries, without counts, and adds one: of queries first, first + 1, ...
  CountSum of_some(std::int64_t queries) const { return {where_, queries, radii_, totals_}; }
  void add_sum(std::int64_t first, const CountSum& some);
  /// Takes one row away that was counted for radii r, r + 1, ... of a query.
  void take_away(std::int64_t query, std::int64_t r);
  /// Returns the counts, [queries, radii], or of totals [radii].
  std::vector<std::int64_t> counts() { return std::move(counts_); }

 private:
  std::size_t row_of(std::int64_t query) const;

  const std::string where_;
  const std::int64_t radii_;
  const bool totals_;
  std::mutex mutex_;
  std::vector<std::int64_t> counts_;
};

}  // namespace kith
