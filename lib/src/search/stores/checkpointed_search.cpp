#include "search/stores/checkpointed_search.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/numbers.hpp"
#include "search/lists/shard_lists.hpp"

namespace kith {

CheckpointedSearch::CheckpointedSearch(Checkpoint file) : file_(std::move(file)) {
  if (std::optional<Checkpoint::Found> found = file_.read()) {
    done_ = std::move(found->done);
    keys_ = std::move(found->keys);
  } else {
    keys_ = lists_of_none(file_.queries(), file_.k());
  }
}

std::vector<SearchPiece> CheckpointedSearch::left(const SearchPiece& asked) const {
  const std::lock_guard lock(mutex_);
  return pieces_left(done_, asked);
}

FoundBefore CheckpointedSearch::known(const SearchRequest& part, std::vector<std::uint32_t>& room) const {
  const std::lock_guard lock(mutex_);
  const auto from = keys_.value.begin() + static_cast<std::ptrdiff_t>(part.first_query * keys_.k);
  room.assign(from, from + static_cast<std::ptrdiff_t>(part.m() * keys_.k));
  return {room, keys_.k};
}

void CheckpointedSearch::take(const SearchRequest& part, std::int64_t rows, Keys keys) {
  for (std::int64_t& row : keys.row) row += row < 0 ? 0 : part.first_row;
  const std::lock_guard lock(mutex_);
  const std::size_t begin = size(part.first_query * keys_.k);
  const ShardLists lists[] = {
      {part.m(), keys_.k, nullptr, keys_.value.data() + begin, keys_.row.data() + begin},
      lists_of("search", keys)};
  Keys both = lists_of_none(part.m(), keys_.k);
  unite_keys(lists, both.value.data(), both.row.data());
  std::copy(both.value.begin(), both.value.end(), keys_.value.data() + begin);
  std::copy(both.row.begin(), both.row.end(), keys_.row.data() + begin);
  done_.push_back({{part.first_query, part.m()}, {part.first_row, rows}});
  join_pieces(done_);
  file_.write(done_, keys_);
}

Keys CheckpointedSearch::keys() {
  const std::lock_guard lock(mutex_);
  return std::move(keys_);
}

}  // namespace kith
