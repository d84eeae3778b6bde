#include <algorithm>
#include <utility>

#include "search/lists/shard_lists.hpp"
#include "search/stores/part_sink.hpp"

namespace kith {
namespace {

/// Appends lists of successive queries. There is at least one part.
Keys appended(std::vector<Keys> parts) {
  Keys all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    all.queries += parts[i].queries;
    all.value.insert(all.value.end(), parts[i].value.begin(), parts[i].value.end());
    all.row.insert(all.row.end(), parts[i].row.begin(), parts[i].row.end());
  }
  return all;
}

RadiusKeys appended(std::vector<RadiusKeys> parts) {
  RadiusKeys all = std::move(parts.front());
  for (std::size_t i = 1; i < parts.size(); ++i) {
    const std::int64_t before = all.first.back();
    all.queries += parts[i].queries;
    for (std::size_t q = 1; q < parts[i].first.size(); ++q) all.first.push_back(before + parts[i].first[q]);
    all.value.insert(all.value.end(), parts[i].value.begin(), parts[i].value.end());
    all.row.insert(all.row.end(), parts[i].row.begin(), parts[i].row.end());
  }
  return all;
}

/// Merges lists of the same queries, and keeps the nearest. There is at least one part.
///   buffers  gets the memory of the parts, and gives that of the result
Keys united(std::vector<Keys> parts, KeyBuffers& buffers) {
  if (parts.size() == 1) return std::move(parts.front());
  std::vector<ShardLists> lists;
  lists.reserve(parts.size());
  for (const Keys& part : parts) lists.push_back(lists_of("search", part));
  Keys all = buffers.take();
  all.queries = parts.front().queries;
  all.k = parts.front().k;
  all.value.resize(parts.front().value.size());
  all.row.resize(all.value.size());
  unite_keys<std::uint32_t>(lists, all.value.data(), all.row.data());
  for (Keys& part : parts) buffers.put(std::move(part));
  return all;
}

RadiusKeys united(std::vector<RadiusKeys> parts) {
  return parts.size() == 1 ? std::move(parts.front()) : merge(parts);
}

}  // namespace

ListMerger::Found& ListMerger::found_of(const SearchRequest& part) {
  const std::lock_guard lock(mutex_);
  const auto [member, is_new] = members_.try_emplace(part.member);
  if (is_new) member->second.first_query = part.first_query;
  return member->second;
}

FoundBefore ListMerger::known(const SearchRequest& part, std::vector<std::uint32_t>&) const {
  const std::lock_guard lock(mutex_);
  const auto member = members_.find(part.member);
  if (member == members_.end()) return {};
  return {member->second.keys.value, part.k};
}

void ListMerger::take(const SearchRequest& part, std::int64_t, Keys keys) {
  if (part.first_row != 0)
    for (std::int64_t& row : keys.row) row += row < 0 ? 0 : part.first_row;
  Found& found = found_of(part);
  if (found.keys.k == 0) {
    found.keys = std::move(keys);
    return;
  }
  std::vector<Keys> both;
  both.push_back(std::move(found.keys));
  both.push_back(std::move(keys));
  found.keys = united(std::move(both), buffers_);
}

void ListMerger::take_within(const SearchRequest& part, RadiusKeys keys) {
  for (std::int64_t& row : keys.row) row += part.first_row;
  found_of(part).within.push_back(std::move(keys));
}

/// Returns true if each member had all queries, false if each had some of them.
bool ListMerger::share_queries() const {
  return std::ranges::all_of(members_, [](const auto& member) { return member.second.first_query == 0; });
}

Keys ListMerger::keys() {
  std::vector<Keys> all;
  all.reserve(members_.size());
  for (auto& [member, found] : members_) all.push_back(std::move(found.keys));
  return share_queries() ? united(std::move(all), buffers_) : appended(std::move(all));
}

RadiusKeys ListMerger::within() {
  std::vector<RadiusKeys> all;
  all.reserve(members_.size());
  for (auto& [member, found] : members_) all.push_back(united(std::move(found.within)));
  return share_queries() ? united(std::move(all)) : appended(std::move(all));
}

}  // namespace kith
