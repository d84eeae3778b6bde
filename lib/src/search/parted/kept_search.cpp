#include "search/parted/kept_search.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/numbers.hpp"
#include "search/shard_lists.hpp"

namespace kith {

KeptSearch::KeptSearch(Checkpoint file) : file_(std::move(file)) {
  if (std::optional<Checkpoint::Found> found = file_.read()) {
    done_ = std::move(found->done);
    keys_ = std::move(found->keys);
  } else {
    keys_ = lists_of_none(file_.queries(), file_.k());
  }
}

std::vector<SearchPiece> KeptSearch::left(const SearchPiece& asked) const {
  const std::lock_guard lock(mutex_);
  return pieces_left(done_, asked);
}

std::vector<std::uint32_t> KeptSearch::values(const Stretch& queries) const {
  const std::lock_guard lock(mutex_);
  const auto from = keys_.value.begin() + static_cast<std::ptrdiff_t>(queries.first * keys_.k);
  return {from, from + static_cast<std::ptrdiff_t>(queries.count * keys_.k)};
}

void KeptSearch::add(const SearchPiece& piece, const Keys& keys) {
  const std::lock_guard lock(mutex_);
  const std::size_t begin = size(piece.queries.first * keys_.k);
  const ShardLists lists[] = {
      {piece.queries.count, keys_.k, nullptr, keys_.value.data() + begin, keys_.row.data() + begin},
      lists_of("search", keys)};
  Keys both = lists_of_none(piece.queries.count, keys_.k);
  unite_keys(lists, both.value.data(), both.row.data());
  std::copy(both.value.begin(), both.value.end(), keys_.value.data() + begin);
  std::copy(both.row.begin(), both.row.end(), keys_.row.data() + begin);
  done_.push_back(piece);
  join_pieces(done_);
  file_.write(done_, keys_);
}

Keys KeptSearch::take() {
  const std::lock_guard lock(mutex_);
  return std::move(keys_);
}

}  // namespace kith
