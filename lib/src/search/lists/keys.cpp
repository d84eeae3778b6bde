// Implements the public functions that merge the keys of shards.
#include "kith/keys.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/border.hpp"
#include "base/checksum.hpp"
#include "base/numbers.hpp"
#include "kith/error.hpp"
#include "rows/rows.hpp"
#include "search/lists/shard_lists.hpp"

namespace kith {
namespace {

/// Returns views of all of `given` as lists. Throws invalid_argument: arrays of another length.
template <class Given>
std::vector<ShardLists> all_lists(std::span<const Given> given) {
  std::vector<ShardLists> lists;
  for (const Given& keys : given)
    lists.push_back(lists_of("merge", keys, static_cast<std::int64_t>(lists.size())));
  return lists;
}

/// Adds `value` to the sum as `bytes` bytes, the lowest first.
template <std::size_t bytes>
void add_to(Checksum& sum, std::uint64_t value) {
  std::array<unsigned char, bytes> parts;
  for (std::size_t i = 0; i < bytes; ++i) parts[i] = static_cast<unsigned char>(value >> (8 * i));
  sum.add(parts.data(), bytes);
}

}  // namespace

Keys merge(std::span<const Keys> lists) try {
  const std::vector<ShardLists> all = all_lists(lists);
  Keys merged;
  if (!all.empty()) {
    merged.queries = all.front().queries;
    merged.k = all.front().k;
  }
  merged.value.resize(cells_of(merged.queries, merged.k));
  merged.row.resize(merged.value.size());
  merge_keys(all, merged.value.data(), merged.row.data());
  return merged;
} catch (...) {
  rethrow_as_error();
}

RadiusKeys merge(std::span<const RadiusKeys> lists) try {
  return merge_radius_keys(all_lists(lists));
} catch (...) {
  rethrow_as_error();
}

Neighbors finish(Metric metric, const Keys& keys) try {
  check_keys("finish", lists_of("finish", keys));
  check_values("finish", metric, keys.value);
  Neighbors found{keys.queries, keys.k, std::vector<float>(keys.value.size()), keys.row};
  finish_values(metric, keys.value, found.distance.data());
  return found;
} catch (...) {
  rethrow_as_error();
}

RadiusNeighbors finish(Metric metric, const RadiusKeys& keys) try {
  check_keys("finish", lists_of("finish", keys));
  check_values("finish", metric, keys.value);
  RadiusNeighbors found{keys.queries, keys.first, std::vector<float>(keys.value.size()), keys.row};
  finish_values(metric, keys.value, found.distance.data());
  return found;
} catch (...) {
  rethrow_as_error();
}

Keys leave_out(const Keys& keys, std::span<const std::int64_t> rows) try {
  const ShardLists lists = lists_of("leave_out", keys);
  Keys kept{keys.queries, keys.k - 1, {}, {}};
  kept.value.resize(cells_of(kept.queries, kept.k));
  kept.row.resize(kept.value.size());
  leave_out_of(lists, rows, kept.value.data(), kept.row.data());
  return kept;
} catch (...) {
  rethrow_as_error();
}

RadiusKeys leave_out(const RadiusKeys& keys, std::span<const std::int64_t> rows) try {
  const ShardLists lists = lists_of("leave_out", keys);
  if (static_cast<std::int64_t>(rows.size()) != keys.queries)
    throw Error(Errc::invalid_argument, "leave_out: " + std::to_string(rows.size()) + " rows for " +
                                            std::to_string(keys.queries) +
                                            " queries; give one a query, -1 for none");
  check_keys("leave_out", lists);
  RadiusKeys kept{keys.queries, {0}, {}, {}};
  for (std::int64_t q = 0; q < keys.queries; ++q) {
    for (std::size_t i = lists.begin(q); i < lists.begin(q + 1); ++i) {
      if (keys.row[i] == rows[size(q)]) continue;
      kept.value.push_back(keys.value[i]);
      kept.row.push_back(keys.row[i]);
    }
    kept.first.push_back(static_cast<std::int64_t>(kept.row.size()));
  }
  return kept;
} catch (...) {
  rethrow_as_error();
}

std::uint64_t digest_of(const ShardLists& lists) {
  check_keys("digest", lists);
  Checksum sum;
  add_to<8>(sum, static_cast<std::uint64_t>(lists.queries));
  add_to<8>(sum, static_cast<std::uint64_t>(lists.k));
  for (std::size_t i = 0; i < lists.begin(lists.queries); ++i) {
    add_to<4>(sum, lists.value[i]);
    add_to<8>(sum, static_cast<std::uint64_t>(lists.row[i]));
  }
  return sum.value();
}

std::uint64_t digest(const Keys& keys) try { return digest_of(lists_of("digest", keys)); } catch (...) {
  rethrow_as_error();
}

float largest_element(const RowsView& rows, const std::vector<std::int64_t>& features) try {
  const std::vector<std::int64_t> columns = ordered_features(features, rows.cols);
  const bool all = static_cast<std::int64_t>(columns.size()) == rows.cols;
  return prepare_rows("largest_element", "training", rows, Metric::negative_dot, 0,
                      all ? std::span<const std::int64_t>() : columns)
      .largest;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
