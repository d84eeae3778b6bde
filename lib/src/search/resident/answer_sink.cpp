#include "search/resident/answer_sink.hpp"

#include <algorithm>
#include <utility>

#include "base/numbers.hpp"
#include "metric/chain.hpp"
#include "rows/rows.hpp"
#include "search/lists/shard_lists.hpp"

namespace kith {

void CutSink::put(std::int64_t query, std::span<const Key> nearest) {
  const auto end = std::upper_bound(nearest.begin(), nearest.end(), make_key(bound_, no_row));
  if (end == nearest.end()) return to_.put(query, nearest);
  std::vector<Key> within(nearest.begin(), end);
  within.resize(nearest.size(), no_key);
  to_.put(query, within);
}

void CutSink::put_all(Keys& keys) {
  const std::uint32_t last = ordered(bound_);
  for (std::size_t i = 0; i < keys.value.size(); ++i)
    if (keys.value[i] > last) {
      keys.value[i] = no_value;
      keys.row[i] = -1;
    }
  to_.put_all(keys);
}

void HostSink::put_lists(std::int64_t first, std::span<const Key> lists, std::size_t) {
  const std::size_t to = size(first) * size(k_);
  finish(shown_, lists, distance_ + to, row_ + to);
}

void HostSink::put_all(Keys& keys) {
  finish_keys(shown_, keys, distance_, row_);
}

void NeighborsSink::begin(std::int64_t m, std::int64_t k) {
  const std::size_t cells = cells_of(m, k);
  const auto fit = [&](auto& values) {
    if (values.capacity() < cells) values.clear();  // so that resize() copies no old values
    values.resize(cells);
  };
  found_.queries = m;
  found_.k = k;
  found_.arithmetic = Arithmetic::f32;
  found_.distance64.clear();
  fit(found_.distance);
  fit(found_.row);
  write_to(found_.distance.data(), found_.row.data());
  HostSink::begin(m, k);
}

void KeysSink::begin(std::int64_t m, std::int64_t k) {
  const std::size_t cells = cells_of(m, k_);
  to_.queries = m;
  to_.k = k_;
  to_.value.resize(cells);
  to_.row.resize(cells);
  if (k == k_) return;
  std::fill(to_.value.begin(), to_.value.end(), no_value);
  std::fill(to_.row.begin(), to_.row.end(), -1);
}

void KeysSink::put(std::int64_t query, std::span<const Key> nearest) {
  std::size_t to = size(query) * size(k_);
  for (const Key key : nearest) {
    to_.value[to] = static_cast<std::uint32_t>(key >> 32);
    to_.row[to++] = key == no_key ? -1 : shown(static_cast<std::int64_t>(row_of(key)));
  }
}

void KeysSink::put_all(Keys& keys) {
  const std::int64_t k = keys.k;
  if (k == k_) std::swap(to_, keys);
  for (std::int64_t q = 0; k < k_ && q < keys.queries; ++q) {
    const std::size_t from = size(q * keys.k), to = size(q * k_);
    std::copy_n(keys.value.data() + from, keys.k, to_.value.data() + to);
    std::copy_n(keys.row.data() + from, keys.k, to_.row.data() + to);
  }
  for (std::int64_t& row : to_.row) row = shown(row);
}

}  // namespace kith
