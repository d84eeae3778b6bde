// Cuts rows into shards, and searches all of them.
#pragma once

#include <random>

#include "common/device.hpp"
#include "kith/index.hpp"
#include "kith/keys.hpp"

namespace kith::tests {

/// Returns the rows first .. first + rows - 1.
struct Part {
  std::int64_t first = 0, rows = 0;
};

/// Cuts n rows into `count` random uneven parts of at least one row each.
///   step  parts begin at multiples of it
inline std::vector<Part> uneven_parts(std::int64_t n, std::int64_t count, std::mt19937& random,
                                      std::int64_t step = 1) {
  std::vector<std::int64_t> places;
  for (std::int64_t place = step; place < n; place += step) places.push_back(place);
  std::shuffle(places.begin(), places.end(), random);
  places.resize(std::min(places.size(), size(count - 1)));
  places.push_back(0);
  places.push_back(n);
  std::sort(places.begin(), places.end());
  std::vector<Part> parts;
  for (std::size_t i = 0; i + 1 < places.size(); ++i) parts.push_back({places[i], places[i + 1] - places[i]});
  return parts;
}

/// Finds the largest absolute value of an element, by a plain loop.
inline float largest_of(const Matrix& rows) {
  float largest = 0;
  for (const float value : rows.values) largest = std::max(largest, std::fabs(value));
  return largest;
}

/// Makes an index for each part, on the device under test and the CPU in turn.
///   shift  added to all row numbers
inline std::vector<Index> shards_of(const Matrix& train, const std::vector<Part>& parts, Metric metric,
                                    std::int64_t shift = 0) {
  static const Device cpu = open_device("cpu");
  std::vector<Index> shards;
  for (const Part& part : parts)
    shards.emplace_back(shards.size() % 2 == 0 ? device() : cpu, train.view().slice(part.first, part.rows),
                        metric, IndexOptions{{}, shift + part.first, largest_of(train)});
  return shards;
}

/// Merges `lists` in random order and grouping until one is left.
template <class List>
List merged_by_chance(std::vector<List> lists, std::mt19937& random) {
  while (lists.size() > 1) {
    std::shuffle(lists.begin(), lists.end(), random);
    const std::size_t count = 2 + random() % (lists.size() - 1);
    const auto group = lists.end() - static_cast<std::ptrdiff_t>(std::min(count, lists.size()));
    const std::vector<List> some(group, lists.end());
    lists.erase(group, lists.end());
    lists.push_back(merge(some));
  }
  return lists.front();
}

}  // namespace kith::tests
