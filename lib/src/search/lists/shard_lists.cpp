#include "search/lists/shard_lists.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <compare>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "base/checksum.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "base/text.hpp"
#include "host/parallel.hpp"
#include "kith/error.hpp"
#include "metric/chain.hpp"
#include "metric/roots.hpp"
#include "rows/rows.hpp"

namespace kith {

/// A key with a row number of 64 bits, in the order of the contract: nearer keys are smaller.
template <class Code>
struct ShardKey {
  Code value = no_code<Code>;
  std::int64_t row = -1;

  // clang-tidy 14 takes the 0 that such an operator is compared with for a pointer.
  auto operator<=>(const ShardKey&) const = default;  // NOLINT(modernize-use-nullptr)
};

namespace {

template <class Code>
ShardKey<Code> key_at(const ListsOf<Code>& lists, std::size_t place) {
  return {lists.value[place], lists.row[place]};
}

constexpr std::int64_t work_a_merged_key = 8;  // rough work of checking and merging a key

std::string text(std::int64_t number) {
  return std::to_string(number);
}

/// Returns `the keys`, or a name such as `list 3`.
std::string name_of(std::int64_t which) {
  return which < 0 ? "the keys" : "list " + text(which);
}

template <class Code>
bool is_distance(Code value) {
  using Real = std::conditional_t<sizeof(Code) == sizeof(float), float, double>;
  constexpr Real infinity = std::numeric_limits<Real>::infinity();
  return value >= ordered(-infinity) && value <= ordered(infinity);
}

void check_parameter(std::string_view where, ShownBy shown) {
  const double by = shown.parameter;
  const bool is_p = shown.metric == Metric::minkowski, is_needed = shows_by_parameter(shown.metric);
  const bool may_be_1 = bits_without_codes(shown.metric) > 0;  // of rows with codes, which say it themselves
  if (is_p        ? is_power(by)
      : is_needed ? by >= 1 && std::isfinite(by) && by == std::floor(by)
                  : by == 0 || (by == 1 && may_be_1))
    return;
  refuse(where, "distances by " + std::string(name(shown.metric)) + " with the parameter " + text_of(by) +
                    "; give " +
                    (is_p        ? "its p"
                     : is_needed ? "the number of columns that count"
                     : may_be_1  ? "that of Index::shown(), which is 0 or 1"
                                 : "0, which stands for none"));
}

/// Returns the first place of list q that no search produces; the end of the list if there is none.
template <class Code>
std::size_t wrong_place(const ListsOf<Code>& lists, std::int64_t q) {
  const std::size_t begin = lists.begin(q), end = lists.begin(q + 1);
  const bool may_be_short = lists.first == nullptr;
  for (std::size_t i = begin; i < end; ++i) {
    const ShardKey<Code> key = key_at(lists, i);
    const bool none = key == ShardKey<Code>{};
    if (none ? !may_be_short : !is_distance(key.value) || key.row < 0) return i;
    if (i == begin || key > key_at(lists, i - 1)) continue;
    if (!none) return i;  // (no_value, -1) may follow itself
  }
  return end;
}

void check_shape(std::string_view where, std::int64_t which, const std::string& shape, std::size_t cells,
                 std::size_t values, std::size_t rows) {
  if (values == cells && rows == cells) return;
  refuse(where, name_of(which) + (which < 0 ? " have " : " has ") + std::to_string(values) + " values and " +
                    std::to_string(rows) + " rows, but " + shape + "; give " + std::to_string(cells) +
                    " of each");
}

/// Merges the lists of query q, and puts the `most` nearest keys at the beginning of `room`. Returns how many
/// there are.
///   room  2 * most + the longest list
template <class Code>
std::size_t unite(std::span<const ListsOf<Code>> lists, std::int64_t q, std::size_t most,
                  std::span<ShardKey<Code>> room) {
  const std::span<ShardKey<Code>> united = room.first(most), next = room.subspan(most, most);
  const std::span<ShardKey<Code>> list = room.subspan(2 * most);
  std::size_t size = 0;
  for (const ListsOf<Code>& from : lists) {
    const std::size_t begin = from.begin(q), count = from.count(q);
    for (std::size_t i = 0; i < count; ++i) list[i] = key_at(from, begin + i);
    std::size_t a = 0, b = 0, to = 0;
    while (to < most && (a < size || b < count)) {
      const bool first = b == count || (a < size && united[a] <= list[b]);
      const ShardKey<Code> key = first ? united[a] : list[b];
      if (b < count && list[b] == key) ++b;  // a key that both lists have is taken once
      if (first) ++a;
      next[to++] = key;
    }
    std::copy_n(next.begin(), to, united.begin());
    size = to;
  }
  return size;
}

/// Calls work(begin, end) for ranges that cover 0 .. count - 1, by all threads.
template <class Work>
void in_shares(std::size_t count, const Work& work) {
  constexpr std::size_t a_share = 1 << 12;  // handing out fewer takes longer than doing them
  const auto shares = static_cast<std::int64_t>((count + a_share - 1) / a_share);
  parallel_for(shares, static_cast<std::int64_t>(count), 0, [&](std::int64_t share) {
    const std::size_t begin = size(share) * a_share;
    work(begin, std::min(begin + a_share, count));
  });
}

template <class Code>
void check_all(std::span<const ListsOf<Code>> lists) {
  if (lists.empty()) refuse("merge", "there is no list; give at least one");
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const ListsOf<Code>&list = lists[i], &first = lists.front();
    if (list.queries != first.queries || list.k != first.k)
      refuse("merge", "list " + std::to_string(i) + " has " + text(list.queries) +
                          " queries and k = " + text(list.k) + ", but list 0 has " + text(first.queries) +
                          " and k = " + text(first.k) + "; search every shard for the same queries and k");
    check_keys("merge", list, static_cast<std::int64_t>(i));
  }
}

/// Says what keys with such codes have.
template <class Code>
constexpr Arithmetic arithmetic_of_codes = sizeof(Code) == sizeof(float) ? Arithmetic::f32 : Arithmetic::f64;

/// Adds `value` to the sum as `bytes` bytes, the lowest first.
template <std::size_t bytes>
void add_to(Checksum& sum, std::uint64_t value) {
  std::array<unsigned char, bytes> parts;
  for (std::size_t i = 0; i < bytes; ++i) parts[i] = static_cast<unsigned char>(value >> (8 * i));
  sum.add(parts.data(), bytes);
}

}  // namespace

Keys lists_of_none(std::int64_t queries, std::int64_t k) {
  const std::size_t cells = cells_of(queries, k);
  return {queries, k, std::vector<std::uint32_t>(cells, no_value), std::vector<std::int64_t>(cells, -1)};
}

template <class Code>
ListsOf<Code> lists_of(std::string_view where, const Keys& keys, std::int64_t which) {
  if (keys.queries < 0 || keys.k < 1)
    refuse(where, name_of(which) + " of " + text(keys.queries) + " queries with k = " + text(keys.k) +
                      "; give 0 or more queries and k of 1 or more");
  check_shape(where, which, "[" + text(keys.queries) + ", " + text(keys.k) + "] (queries, k)",
              cells_of(keys.queries, keys.k), codes_of<Code>(keys).size(), keys.row.size());
  return {keys.queries, keys.k, nullptr, codes_of<Code>(keys).data(), keys.row.data()};
}

template <class Code>
ListsOf<Code> lists_of(std::string_view where, const RadiusKeys& keys, std::int64_t which) {
  const std::vector<std::int64_t>& first = keys.first;
  if (keys.queries < 0 || first.size() != size(keys.queries) + 1 || first.front() != 0 ||
      !std::is_sorted(first.begin(), first.end()))
    refuse(where, name_of(which) + " of " + text(keys.queries) + " queries with " +
                      std::to_string(first.size()) +
                      " places in first; give queries + 1 that begin with 0 and do not decrease");
  check_shape(where, which, "the last list ends at " + text(first.back()), size(first.back()),
              codes_of<Code>(keys).size(), keys.row.size());
  return {keys.queries, 0, first.data(), codes_of<Code>(keys).data(), keys.row.data()};
}

template <class Code>
void check_keys(std::string_view where, const ListsOf<Code>& lists, std::int64_t which) {
  std::atomic<std::int64_t> wrong = lists.queries;
  const auto cells = static_cast<std::int64_t>(lists.begin(lists.queries));
  parallel_for(lists.queries, cells * work_a_merged_key, 0, [&](std::int64_t q) {
    if (wrong_place(lists, q) == lists.begin(q + 1)) return;
    std::int64_t known = wrong;
    while (q < known && !wrong.compare_exchange_weak(known, q)) {
    }
  });
  const std::int64_t q = wrong;
  if (q == lists.queries) return;
  const std::size_t place = wrong_place(lists, q), rank = place - lists.begin(q);
  const auto shown = [&](std::size_t at) {
    return "value " + std::to_string(lists.value[at]) + ", row " + text(lists.row[at]);
  };
  refuse(where, name_of(which) + ", query " + text(q) + ", rank " + std::to_string(rank) + ": " +
                    shown(place) +
                    (rank > 0 ? " behind " + shown(place - 1) : std::string(" at the beginning")) +
                    ", which no search finds; give keys as search_keys(), within_keys() and merge() do");
}

template <class Code>
void merge_keys(std::span<const ListsOf<Code>> lists, Code* value, std::int64_t* row) {
  check_all(lists);
  unite_keys(lists, value, row);
}

template <class Code>
void unite_keys(std::span<const ListsOf<Code>> lists, Code* value, std::int64_t* row) {
  const std::int64_t m = lists.front().queries;
  const std::size_t k = size(lists.front().k);
  if (m == 0) return;  // without queries k may be any number
  const auto team = static_cast<std::uint32_t>(std::min<std::size_t>(team_size(0), size(m)));
  std::vector<std::vector<ShardKey<Code>>> rooms(team, std::vector<ShardKey<Code>>(3 * k));
  const std::size_t work = size(m) * k * lists.size() * size(work_a_merged_key);
  run_team(size(m), work, team, [&](std::size_t q, std::size_t thread) {
    std::vector<ShardKey<Code>>& room = rooms[thread];
    const std::size_t found = unite<Code>(lists, static_cast<std::int64_t>(q), k, room);
    for (std::size_t j = 0; j < k; ++j) {
      const ShardKey<Code> key = j < found ? room[j] : ShardKey<Code>{};
      value[q * k + j] = key.value;
      row[q * k + j] = key.row;
    }
  });
}

template <class Code>
RadiusKeys merge_radius_keys(std::span<const ListsOf<Code>> lists) {
  check_all(lists);
  const std::int64_t m = lists.front().queries;
  std::size_t longest = 0, longest_list = 0;
  for (std::int64_t q = 0; q < m; ++q) {
    std::size_t all = 0;
    for (const ListsOf<Code>& list : lists) {
      all += list.count(q);
      longest_list = std::max(longest_list, list.count(q));
    }
    longest = std::max(longest, all);
  }
  RadiusKeys merged{m, {0}, {}, {}, arithmetic_of_codes<Code>};
  std::vector<Code>& values = codes_of<Code>(merged);
  std::vector<ShardKey<Code>> room(2 * longest + longest_list);
  for (std::int64_t q = 0; q < m; ++q) {
    const std::size_t found = unite<Code>(lists, q, longest, room);
    for (std::size_t j = 0; j < found; ++j) {
      values.push_back(room[j].value);
      merged.row.push_back(room[j].row);
    }
    merged.first.push_back(static_cast<std::int64_t>(values.size()));
  }
  return merged;
}

template <class Code>
void check_shown(std::string_view where, ShownBy shown, std::span<const Code> values) {
  using Real = std::conditional_t<sizeof(Code) == sizeof(float), float, double>;
  check_parameter(where, shown);
  Code least = may_be_negative(shown.metric) ? Code{0} : ordered(Real{0});
  if (bits_without_codes(shown.metric) > 0) least = ordered(std::numeric_limits<Real>::lowest());  // codes
  const auto wrong = std::find_if(values.begin(), values.end(), [least](Code value) {
    return value != no_code<Code> && (!is_distance(value) || value < least);
  });
  if (wrong != values.end())
    refuse(where, "value " + std::to_string(*wrong) + " at place " + text(wrong - values.begin()) +
                      " is that of no distance by " + std::string(name(shown.metric)) +
                      "; give keys as search_keys(), within_keys() and merge() of this kith do");
}

void finish_values(ShownBy shown, std::span<const std::uint32_t> values, float* distance) {
  in_shares(values.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      distance[i] = finish(shown, value_of(static_cast<Key>(values[i]) << 32));
  });
}

void finish_values(ShownBy shown, std::span<const std::uint64_t> values, double* distance) {
  in_shares(values.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      distance[i] = values[i] == no_double ? std::numeric_limits<double>::infinity()
                                           : finish(shown, unordered_double(values[i]));
  });
}

void finish_keys(ShownBy shown, const Keys& keys, float* distance, std::int64_t* row) {
  finish_values(shown, keys.value, distance);
  in_shares(keys.row.size(), [&](std::size_t begin, std::size_t end) {
    std::copy(keys.row.data() + begin, keys.row.data() + end, row + begin);
  });
}

template <class Code>
void leave_out_of(const ListsOf<Code>& lists, std::span<const std::int64_t> rows, Code* value,
                  std::int64_t* row) {
  if (static_cast<std::int64_t>(rows.size()) != lists.queries)
    refuse("leave_out", std::to_string(rows.size()) + " rows for " + text(lists.queries) +
                            " queries; give one a query, -1 for none");
  if (lists.k < 2)
    refuse("leave_out", "the keys have k = " + text(lists.k) +
                            ", of which nothing is left; search for one more than you want");
  check_keys("leave_out", lists);
  const std::size_t kept = size(lists.k) - 1;
  for (std::size_t q = 0; q < rows.size(); ++q) {
    const std::int64_t* const list = lists.row + q * (kept + 1);
    const bool names_one = rows[q] >= 0;  // -1 also ends a short list, so it names no row
    const auto at = names_one ? size(std::find(list, list + kept, rows[q]) - list) : kept;
    for (std::size_t j = 0; j < kept; ++j) {
      const std::size_t from = q * (kept + 1) + j + (j < at ? 0 : 1);
      value[q * kept + j] = lists.value[from];
      row[q * kept + j] = lists.row[from];
    }
  }
}

template <class Code>
std::uint64_t digest_of(const ListsOf<Code>& lists) {
  check_keys("digest", lists);
  Checksum sum;
  add_to<8>(sum, static_cast<std::uint64_t>(lists.queries));
  add_to<8>(sum, static_cast<std::uint64_t>(lists.k));
  for (std::size_t i = 0; i < lists.begin(lists.queries); ++i) {
    add_to<sizeof(Code)>(sum, lists.value[i]);
    add_to<8>(sum, static_cast<std::uint64_t>(lists.row[i]));
  }
  return sum.value();
}

#define KITH_FOR_CODES(Code)                                                                             \
  template ListsOf<Code> lists_of(std::string_view, const Keys&, std::int64_t);                          \
  template ListsOf<Code> lists_of(std::string_view, const RadiusKeys&, std::int64_t);                    \
  template void check_keys(std::string_view, const ListsOf<Code>&, std::int64_t);                        \
  template void merge_keys(std::span<const ListsOf<Code>>, Code*, std::int64_t*);                        \
  template void unite_keys(std::span<const ListsOf<Code>>, Code*, std::int64_t*);                        \
  template RadiusKeys merge_radius_keys(std::span<const ListsOf<Code>>);                                 \
  template void check_shown(std::string_view, ShownBy, std::span<const Code>);                           \
  template void leave_out_of(const ListsOf<Code>&, std::span<const std::int64_t>, Code*, std::int64_t*); \
  template std::uint64_t digest_of(const ListsOf<Code>&);
KITH_FOR_CODES(std::uint32_t)
KITH_FOR_CODES(std::uint64_t)
#undef KITH_FOR_CODES

}  // namespace kith
