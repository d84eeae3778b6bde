// Finds the nearest rows: distances, lists of keys, and what is shown of these.
#include <algorithm>
#include <bit>
#include <vector>

#include "check/plain/plain_memory.hpp"
#include "check/plain/plain_steps.hpp"
#include "metric/chain.hpp"

namespace kith::spi {
namespace {

/// Writes a list for each part of each row, from the pairs that are not masked. value_of(q, t) is that of
/// column t.
template <class Value>
void put_lists(std::size_t m, std::size_t n, std::uint32_t first_row, std::size_t k, std::size_t lists,
               const Grid<Key>& out, const Value& value_of) {
  const std::size_t part = (n + lists - 1) / lists;
  for (std::size_t q = 0; q < m; ++q)
    for (std::size_t g = 0; g < lists; ++g) {
      std::vector<Key> keys;
      for (std::size_t t = g * part; t < std::min(n, (g + 1) * part); ++t) {
        const float value = value_of(q, t);
        if (std::bit_cast<std::uint32_t>(value) != masked_bits)
          keys.push_back(make_key(value, first_row + static_cast<std::uint32_t>(t)));
      }
      put_smallest(std::move(keys), k, row_of_grid(out, q) + g * k);
    }
}

}  // namespace

void plain(const DistanceStep& s) {
  for (std::size_t q = 0; q < s.queries.rows; ++q)
    for (std::size_t t = 0; t < s.train.rows; ++t)
      row_of_grid(s.out, q)[t] =
          chain(s.metric, row_at(s.queries, q), row_at(s.train, t), terms_of(s.train), s.train.bits);
}

void plain(const SelectStep& s) {
  put_lists(s.distances.rows, s.distances.cols, s.first_row, s.k, s.lists, s.out,
            [&](std::size_t q, std::size_t t) { return row_of_grid(s.distances, q)[t]; });
}

void plain(const NearestStep& s) {
  put_lists(s.queries.rows, s.train.rows, s.first_row, s.k, s.lists, s.out,
            [&](std::size_t q, std::size_t t) {
              return chain(s.metric, row_at(s.queries, q), row_at(s.train, t));
            });
}

void plain(const GroupsStep& s) {
  const std::uint32_t *const of_queries = row_of_grid(s.query_borders, 0), *const of_rows =
                                                                               row_of_grid(s.row_borders, 0);
  for (std::size_t g = 0; g + 1 < s.row_borders.cols; ++g)
    for (std::uint32_t q = of_queries[g]; q < of_queries[g + 1]; ++q) {
      if (q < s.first_query || q - s.first_query >= s.queries.rows) continue;
      std::vector<Key> keys;
      for (std::uint32_t t = of_rows[g]; t < of_rows[g + 1]; ++t) {
        if (s.own >= 0 && t == static_cast<std::uint32_t>(s.own) + q) continue;
        const float value =
            chain(s.metric, row_at(s.queries, q - s.first_query), row_at(s.train, t - s.first_row));
        keys.push_back(make_key(value, t - (s.from_group ? of_rows[g] : 0)));
      }
      put_smallest(std::move(keys), s.k, row_of_grid(s.out, q - s.first_query));
    }
}

void plain(const MergeStep& s) {
  for (std::size_t q = 0; q < s.in.rows; ++q) {
    const Key* const lists = row_of_grid(s.in, q);
    put_smallest({lists, lists + std::size_t{s.lists} * s.k}, s.k, row_of_grid(s.out, q));
  }
}

void plain(const MaskStep& s) {
  for (std::size_t q = 0; q < s.distances.rows; ++q)
    for (std::size_t c = 0; c < s.distances.cols; ++c) {
      const std::size_t t = s.first_row + c;
      const std::uint32_t word = row_of_grid(s.filter, s.filter.rows == 1 ? 0 : q)[t / 32];
      float& distance = row_of_grid(s.distances, q)[c];
      if (s.from.cols > 0) distance = row_of_grid(s.from, q)[c];
      if (word / (1u << t % 32) % 2 == 0) distance = std::bit_cast<float>(masked_bits);
    }
}

void plain(const FinishStep& s) {
  for (std::size_t q = 0; q < s.distance.rows; ++q) {
    std::vector<Key> left;
    for (std::size_t j = 0; j < s.keys.cols; ++j) {
      const Key key = row_of_grid(s.keys, q)[j];
      if (key >> 32 == no_value) {
        left.push_back(no_key);
        continue;
      }
      const std::uint32_t place = s.places.cols > 0 ? row_of_grid(s.places, 0)[row_of(key)] : row_of(key);
      if (s.own >= 0 && place == s.own + static_cast<std::int64_t>(q)) continue;
      left.push_back(key >> 32 << 32 | place);
    }
    left.resize(s.distance.cols, no_key);
    finish(ShownBy(s.metric), left, row_of_grid(s.distance, q), row_of_grid(s.rows, q));
    for (std::size_t j = 0; j < s.distance.cols && s.numbers.cols > 0; ++j) {
      std::int64_t& row = row_of_grid(s.rows, q)[j];
      if (row >= 0) row = row_of_grid(s.numbers, 0)[row];
    }
  }
}

}  // namespace kith::spi
