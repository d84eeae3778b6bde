// Finds equal rows among those of a caller.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kith/rows_view.hpp"
#include "rows/copies/row_copies.hpp"

namespace kith {

/// Rows on the host, in the order of their places.
struct RowsInOrder {
  const RowsView& rows;
  std::span<const std::int64_t> order;  ///< the row at each place; empty: all as given

  std::int64_t count() const { return order.empty() ? rows.rows : static_cast<std::int64_t>(order.size()); }

  const unsigned char* at(std::int64_t place) const {
    return rows.row(order.empty() ? place : order[static_cast<std::size_t>(place)]);
  }
};

/// Finds the rows whose bytes are equal. Columns that do not count are compared, too.
RowCopies find_copies(const RowsInOrder& rows);

/// Returns the copies if equal rows are to be kept once, else nothing.
///   asked  IndexOptions::deduplicate; if it is not given: whether so many rows repeat others that it pays
std::optional<RowCopies> copies_to_merge(const RowsInOrder& rows, std::optional<bool> asked);

/// Copies the first of each group of equal rows.
///   returns  [copies.distinct(), row_bytes()]
std::vector<unsigned char> distinct_rows(const RowsInOrder& rows, const RowCopies& copies);

}  // namespace kith
