// Pieces of a search, some queries times some rows: which were searched, and which are left.
#pragma once

#include <vector>

#include "search/parted/asked_part.hpp"

namespace kith {

/// Some queries, and rows by place that they are searched for in.
struct SearchPiece {
  Stretch queries, rows;
};

/// What of `asked` is in none of the pieces that are done: pieces that do not overlap, by queries, then by
/// rows.
std::vector<SearchPiece> pieces_left(const std::vector<SearchPiece>& done, const SearchPiece& asked);

/// Put pieces in order, and those of the same queries whose rows follow each other together.
void join_pieces(std::vector<SearchPiece>& pieces);

}  // namespace kith
