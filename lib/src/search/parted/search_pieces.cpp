#include "search/parted/search_pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <tuple>
#include <utility>

namespace kith {
namespace {

std::int64_t end_of(const Stretch& some) {
  return some.first + some.count;
}

bool covers(const Stretch& all, const Stretch& some) {
  return all.first <= some.first && end_of(all) >= end_of(some);
}

bool same(const Stretch& a, const Stretch& b) {
  return a.first == b.first && a.count == b.count;
}

/// Where the queries of a piece begin or end among those asked for, and these themselves.
std::vector<std::int64_t> cuts_of(const std::vector<SearchPiece>& pieces, const Stretch& asked) {
  std::vector<std::int64_t> cuts = {asked.first, end_of(asked)};
  for (const SearchPiece& piece : pieces)
    for (const std::int64_t at : {piece.queries.first, end_of(piece.queries)})
      if (at > asked.first && at < end_of(asked)) cuts.push_back(at);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

/// What of `rows` was not searched for all of `queries`, of which pieces have all or none.
std::vector<Stretch> rows_left(const std::vector<SearchPiece>& done, const Stretch& queries,
                               const Stretch& rows) {
  std::vector<Stretch> searched;
  for (const SearchPiece& piece : done)
    if (covers(piece.queries, queries)) searched.push_back(piece.rows);
  std::sort(searched.begin(), searched.end(),
            [](const Stretch& a, const Stretch& b) { return a.first < b.first; });
  searched.push_back({end_of(rows), 0});
  std::vector<Stretch> left;
  std::int64_t at = rows.first;
  for (const Stretch& some : searched) {
    const std::int64_t until = std::min(some.first, end_of(rows));
    if (until > at) left.push_back({at, until - at});
    at = std::max(at, end_of(some));
  }
  return left;
}

}  // namespace

std::vector<SearchPiece> pieces_left(const std::vector<SearchPiece>& done, const SearchPiece& asked) {
  const std::vector<std::int64_t> cuts = cuts_of(done, asked.queries);
  std::vector<SearchPiece> pieces;
  std::vector<Stretch> before;
  std::size_t of_before = 0;  // how many of the pieces are those of the queries before
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const Stretch queries = {cuts[i], cuts[i + 1] - cuts[i]};
    std::vector<Stretch> rows = rows_left(done, queries, asked.rows);
    if (i > 0 && std::equal(rows.begin(), rows.end(), before.begin(), before.end(), same)) {
      for (auto piece = pieces.end() - static_cast<std::ptrdiff_t>(of_before); piece != pieces.end(); ++piece)
        piece->queries.count += queries.count;
      continue;
    }
    for (const Stretch& some : rows) pieces.push_back({queries, some});
    of_before = rows.size();
    before = std::move(rows);
  }
  return pieces;
}

void join_pieces(std::vector<SearchPiece>& pieces) {
  const auto place = [](const SearchPiece& piece) {
    return std::tuple(piece.queries.first, piece.queries.count, piece.rows.first);
  };
  std::sort(pieces.begin(), pieces.end(),
            [&](const SearchPiece& a, const SearchPiece& b) { return place(a) < place(b); });
  std::vector<SearchPiece> joined;
  for (const SearchPiece& piece : pieces)
    if (!joined.empty() && same(joined.back().queries, piece.queries) &&
        end_of(joined.back().rows) == piece.rows.first)
      joined.back().rows.count += piece.rows.count;
    else
      joined.push_back(piece);
  pieces = std::move(joined);
}

}  // namespace kith
