#include "search/lists/joined_lists.hpp"

#include <utility>

#include "search/lists/shard_lists.hpp"

namespace kith {

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
  unite_keys(lists, all.value.data(), all.row.data());
  for (Keys& part : parts) buffers.put(std::move(part));
  return all;
}

RadiusKeys united(std::vector<RadiusKeys> parts) {
  return parts.size() == 1 ? std::move(parts.front()) : merge(parts);
}

}  // namespace kith
