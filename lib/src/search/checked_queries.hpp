// Queries that are checked and prepared once, for all parts of the rows that they are searched for in.
#pragma once

#include <cstdint>

#include "certified/found_before.hpp"
#include "kith/matrix_view.hpp"
#include "kith/rows_view.hpp"

namespace kith {

class KeptSearch;
class QueriesThere;

/// Where a part of a search adds what it finds.
struct KeptPart {
  KeptSearch* search = nullptr;                 ///< null: nothing is kept
  std::int64_t first_query = 0, first_row = 0;  ///< of the part, among all
};

/// Refers to memory of others.
struct CheckedQueries {
  RowsView given;                ///< [m, columns], the host's
  MatrixView<const float> rows;  ///< [m, dims]  as they are searched
  float largest = 0;             ///< max |element| of these, or of more
  FoundBefore before = {};       ///< among other rows, with at least as many values as are searched for
  KeptPart kept = {};
  QueriesThere* there = nullptr;  ///< who has all of them on the device; null: nobody

  CheckedQueries slice(std::int64_t first, std::int64_t count) const {
    return {given.slice(first, count),
            rows.slice(first, count),
            largest,
            before.slice(first, count),
            {kept.search, kept.first_query + first, kept.first_row}};
  }
};

}  // namespace kith
