// What a search among some rows knows of rows that were searched before: thresholds to begin with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kith/key.hpp"

namespace kith {

/// Of each query the values of its k nearest rows elsewhere, ascending, no_value where there are fewer; none
/// where nothing is known. Refers to memory of others.
struct FoundBefore {
  std::span<const std::uint32_t> value = {};  ///< [m, k]
  std::int64_t k = 0;

  FoundBefore slice(std::int64_t first, std::int64_t count) const;

  /// Keys for lists of `width` <= k that lack only rows which are not among the k nearest of all: the last
  /// `width` values of each of `queries`. As rows they have numbers behind those of a device, so that a row
  /// that ties with one stays: whoever merges the lists knows which comes first.
  ///   returns  [queries, width]
  std::vector<Key> keys(std::span<const std::int64_t> queries, std::int64_t width) const;
};

/// Whether lists of `width` keys have numbers left for such keys, beside those of `rows` rows.
constexpr bool has_numbers_before(std::int64_t rows, std::int64_t width) {
  return rows <= std::int64_t{no_row} - width;
}

/// A list without such keys, and no_key in their stead at its end.
///   rows  of the index, whose numbers are smaller
void leave_out_before(std::span<Key> list, std::int64_t rows);

}  // namespace kith
