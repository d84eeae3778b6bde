// Lists the copies of distinct rows in the contract's order.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "rows/copies/row_copies.hpp"
#include "rows/row_filter.hpp"

namespace kith {

/// Calls take(value, place) for copies of distinct rows, at most `most` times, by value and then by place.
///   value   [count]  of distinct rows, ascending
///   row     [count]  their numbers; below 0: there are no more
///   filter  of all rows; null: all count
///   room    memory that is used again
template <class Take>
void list_copies(const RowCopies& copies, std::span<const std::uint32_t> value,
                 std::span<const std::int64_t> row, const std::uint32_t* filter, std::size_t most,
                 std::vector<std::uint32_t>& room, const Take& take) {
  const std::size_t count = row.size();
  for (std::size_t begin = 0, end = 0; begin < count && row[begin] >= 0 && most > 0; begin = end) {
    room.clear();
    for (end = begin; end < count && row[end] >= 0 && value[end] == value[begin]; ++end) {
      std::size_t left = most;
      for (const std::uint32_t place : copies.of(row[end])) {
        if (filter && !counts(filter, place)) continue;
        room.push_back(place);
        if (--left == 0) break;
      }
    }
    if (end - begin > 1) std::sort(room.begin(), room.end());
    for (std::size_t i = 0; i < room.size() && most > 0; ++i, --most) take(value[begin], room[i]);
  }
}

}  // namespace kith
