// Thresholds that a search of some rows gets from rows that were searched before.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/key.hpp"

namespace kith {

/// The values of the k nearest rows of each query among the rows searched before, ascending, padded with
/// no_value; empty if nothing is known. They are in memory of the caller.
struct FoundBefore {
  std::span<const std::uint32_t> value = {};  ///< [m, k]
  std::int64_t k = 0;

  FoundBefore slice(std::int64_t first, std::int64_t count) const;

  /// Makes initial keys for lists of `width` <= k entries: the last `width` values of each of `queries`. A
  /// list that begins with them drops only rows that are not among the k nearest of all. Their row numbers
  /// are above those of all real rows, so that a real row with an equal value stays; the code that merges
  /// lists breaks the tie.
  ///   returns  [queries, width]
  std::vector<Key> keys(std::span<const std::int64_t> queries, std::int64_t width) const;
};

/// Returns whether `rows` rows leave enough numbers free for such keys in lists of `width`.
constexpr bool has_numbers_before(std::int64_t rows, std::int64_t width) {
  return rows <= std::int64_t{no_row} - width;
}

/// Removes such keys from a list, and pads it with no_key.
///   rows  number of rows of the index, all of which have smaller numbers
void leave_out_before(std::span<Key> list, std::int64_t rows);

}  // namespace kith
