#include "search/lists/search_pieces.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <tuple>
#include <utility>

namespace kith {
namespace {

std::int64_t end_of(const RowRange& some) {
  return some.first + some.count;
}

bool same(const RowRange& a, const RowRange& b) {
  return a.first == b.first && a.count == b.count;
}

/// Returns the queries at which `asked` or a piece within it begins or ends, ascending.
std::vector<std::int64_t> cuts_of(const std::vector<SearchPiece>& pieces, const RowRange& asked) {
  std::vector<std::int64_t> cuts = {asked.first, end_of(asked)};
  for (const SearchPiece& piece : pieces)
    for (const std::int64_t at : {piece.queries.first, end_of(piece.queries)})
      if (at > asked.first && at < end_of(asked)) cuts.push_back(at);
  std::sort(cuts.begin(), cuts.end());
  cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
  return cuts;
}

}  // namespace

PassedPieces::PassedPieces(std::span<const SearchPiece> pieces, const RowRange& queries) {
  for (const SearchPiece& piece : pieces)
    if (piece.queries.first < end_of(queries) && end_of(piece.queries) > queries.first)
      begins_.push_back(piece);
  ends_ = begins_;
  std::ranges::sort(begins_, {}, [](const SearchPiece& piece) { return piece.queries.first; });
  std::ranges::sort(ends_, {}, [](const SearchPiece& piece) { return end_of(piece.queries); });
}

bool PassedPieces::pass(std::int64_t query) {
  for (; ended_ < ends_.size() && end_of(ends_[ended_].queries) <= query; ++ended_)
    rows_.erase(ends_[ended_].rows.first);
  for (; begun_ < begins_.size() && begins_[begun_].queries.first <= query; ++begun_)
    if (!add(begins_[begun_].rows)) return false;
  return true;
}

bool PassedPieces::asked_of(std::int64_t row) const {
  const auto after = rows_.upper_bound(row);
  return after != rows_.begin() && row < std::prev(after)->second;
}

std::vector<RowRange> PassedPieces::left_of(const RowRange& rows) const {
  std::vector<RowRange> left;
  std::int64_t at = rows.first;
  const auto leave_until = [&](std::int64_t end) {
    if (end > at) left.push_back({at, end - at});
  };
  for (const auto& [first, end] : rows_) {
    leave_until(std::min(first, end_of(rows)));
    at = std::max(at, end);
  }
  leave_until(end_of(rows));
  return left;
}

bool PassedPieces::add(const RowRange& rows) {
  const auto after = rows_.lower_bound(rows.first);
  if (after != rows_.end() && after->first < end_of(rows)) return false;
  if (after != rows_.begin() && std::prev(after)->second > rows.first) return false;
  rows_.emplace(rows.first, end_of(rows));
  return true;
}

std::vector<SearchPiece> pieces_left(const std::vector<SearchPiece>& done, const SearchPiece& asked) {
  const std::vector<std::int64_t> cuts = cuts_of(done, asked.queries);
  PassedPieces passed(done, asked.queries);
  std::vector<SearchPiece> pieces;
  std::vector<RowRange> before;
  std::size_t of_before = 0;  // pieces before this one belong to earlier queries
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i) {
    const RowRange queries = {cuts[i], cuts[i + 1] - cuts[i]};
    passed.pass(queries.first);
    std::vector<RowRange> rows = passed.left_of(asked.rows);
    if (i > 0 && std::equal(rows.begin(), rows.end(), before.begin(), before.end(), same)) {
      for (auto piece = pieces.end() - static_cast<std::ptrdiff_t>(of_before); piece != pieces.end(); ++piece)
        piece->queries.count += queries.count;
      continue;
    }
    for (const RowRange& some : rows) pieces.push_back({queries, some});
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
