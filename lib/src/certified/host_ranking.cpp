#include "certified/host_ranking.hpp"

#include <algorithm>
#include <span>

#include "base/numbers.hpp"
#include "host/parallel.hpp"
#include "metric/chain.hpp"

namespace kith {
namespace {

constexpr std::int64_t batch_floats = std::int64_t{1} << 24;  ///< 64 MiB of rows at a time

/// Candidate number `at` of query `query`.
struct Candidate {
  std::uint32_t place, query, at;
};

std::vector<Candidate> by_place(const std::vector<std::vector<std::uint32_t>>& lists) {
  std::vector<Candidate> all;
  for (std::size_t q = 0; q < lists.size(); ++q)
    for (std::size_t j = 0; j < lists[q].size(); ++j)
      all.push_back({lists[q][j], static_cast<std::uint32_t>(q), static_cast<std::uint32_t>(j)});
  std::sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) { return a.place < b.place; });
  return all;
}

}  // namespace

std::vector<std::vector<Key>> HostRanking::keys(
    const std::vector<std::vector<std::uint32_t>>& candidates) const {
  std::vector<std::vector<Key>> keys;
  keys.reserve(candidates.size());
  for (const std::vector<std::uint32_t>& list : candidates) keys.emplace_back(list.size());
  const std::vector<Candidate> all = by_place(candidates);
  const std::int64_t dims = queries_.cols(),
                     most_rows_a_batch = std::max<std::int64_t>(1, batch_floats / dims);
  std::vector<std::uint32_t> places, row_of;  // of a batch; the row of each of its candidates
  std::vector<float> rows;
  for (std::size_t begin = 0; begin < all.size();) {
    places.clear();
    row_of.clear();
    std::size_t end = begin;
    for (; end < all.size(); ++end) {
      if (places.empty() || places.back() != all[end].place) {
        if (static_cast<std::int64_t>(places.size()) == most_rows_a_batch) break;
        places.push_back(all[end].place);
      }
      row_of.push_back(static_cast<std::uint32_t>(places.size() - 1));
    }
    rows.resize(places.size() * size(dims));
    rows_.read(places, rows.data(), threads_);
    const auto count = static_cast<std::int64_t>(end - begin);
    parallel_for(count, count * dims, threads_, [&](std::int64_t i) {
      const Candidate& candidate = all[begin + size(i)];
      const float* const row = rows.data() + std::size_t{row_of[size(i)]} * size(dims);
      const float value = chain(metric_, {queries_.row(candidate.query), size(dims)}, {row, size(dims)});
      keys[candidate.query][candidate.at] = make_key(value, candidate.place);
    });
    begin = end;
  }
  return keys;
}

}  // namespace kith
