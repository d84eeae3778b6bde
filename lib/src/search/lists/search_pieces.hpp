// Keeps account of the pieces of a search, each some queries times some rows: which were searched, and which
// are left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "search/lists/asked_part.hpp"

namespace kith {

/// A range of queries, and the range of rows, by place, that was searched for them.
struct SearchPiece {
  RowRange queries, rows;
};

/// Passes over the queries in ascending order, and keeps the pieces that contain the present query.
class PassedPieces {
 public:
  /// Takes only the pieces that were searched for some of `queries`.
  PassedPieces(std::span<const SearchPiece> pieces, const RowRange& queries);
  /// Moves on to `query`. Returns whether no two of its pieces have a row in common. Queries must ascend.
  bool pass(std::int64_t query);
  /// Returns whether a piece of the present query has this row.
  bool asked_of(std::int64_t row) const;
  /// Returns the ranges of `rows` that no piece of the present query has.
  std::vector<RowRange> left_of(const RowRange& rows) const;

 private:
  bool add(const RowRange& rows);

  std::vector<SearchPiece> begins_, ends_;
  std::size_t begun_ = 0, ended_ = 0;
  std::map<std::int64_t, std::int64_t> rows_;  ///< first row and end of each piece of the query
};

/// Returns the parts of `asked` that no piece of `done` covers. They do not overlap, and are sorted by
/// queries, then by rows.
std::vector<SearchPiece> pieces_left(const std::vector<SearchPiece>& done, const SearchPiece& asked);

/// Sorts pieces, and joins those of the same queries whose rows follow each other.
void join_pieces(std::vector<SearchPiece>& pieces);

}  // namespace kith
