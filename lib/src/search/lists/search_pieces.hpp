// Pieces of a search, some queries times some rows: which were searched, and which are left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "search/lists/asked_part.hpp"

namespace kith {

/// Some queries, and rows by place that they are searched for in.
struct SearchPiece {
  RowRange queries, rows;
};

/// Pieces as a line over the queries passes them, from the first to the last: each comes and goes once.
class PassedPieces {
 public:
  /// Of `pieces` those that have some of `queries`.
  PassedPieces(std::span<const SearchPiece> pieces, const RowRange& queries);
  /// Returns whether no two pieces of this query have a row in common. Queries ascend.
  bool pass(std::int64_t query);
  /// Whether the query that was passed last was asked of this row.
  bool asked_of(std::int64_t row) const;
  /// Of which of `rows` the query that was passed last was not asked.
  std::vector<RowRange> left_of(const RowRange& rows) const;

 private:
  bool add(const RowRange& rows);

  std::vector<SearchPiece> begins_, ends_;
  std::size_t begun_ = 0, ended_ = 0;
  std::map<std::int64_t, std::int64_t> rows_;  ///< first and end of those of the query
};

/// What of `asked` is in none of the pieces that are done: pieces that do not overlap, by queries, then by
/// rows.
std::vector<SearchPiece> pieces_left(const std::vector<SearchPiece>& done, const SearchPiece& asked);

/// Put pieces in order, and those of the same queries whose rows follow each other together.
void join_pieces(std::vector<SearchPiece>& pieces);

}  // namespace kith
