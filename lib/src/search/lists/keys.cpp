// Implements the public functions that merge the keys of shards.
#include "kith/keys.hpp"

#include <string>
#include <vector>

#include "base/border.hpp"
#include "base/names.hpp"
#include "base/numbers.hpp"
#include "base/refuse.hpp"
#include "kith/error.hpp"
#include "kith/spi/product_error.hpp"
#include "rows/doubles/prepared_doubles.hpp"
#include "rows/rows.hpp"
#include "search/lists/shard_lists.hpp"

namespace kith {
namespace {

/// Returns the vector of distances whose width belongs to such codes.
template <class Code, class Found>
auto& distances_of(Found& found) {
  if constexpr (sizeof(Code) == sizeof(float))
    return found.distance;
  else
    return found.distance64;
}

/// Returns views of all of `given` as lists. Throws invalid_argument: arrays of another length.
template <class Code, class Given>
std::vector<ListsOf<Code>> all_lists(std::span<const Given> given) {
  std::vector<ListsOf<Code>> lists;
  for (const Given& keys : given)
    lists.push_back(lists_of<Code>("merge", keys, static_cast<std::int64_t>(lists.size())));
  return lists;
}

/// Calls use(a code of this arithmetic).
template <class Use>
auto by_arithmetic(Arithmetic arithmetic, const Use& use) {
  return arithmetic == Arithmetic::f64 ? use(std::uint64_t{}) : use(std::uint32_t{});
}

/// Returns the arithmetic of lists. Throws invalid_argument: they differ.
template <class Given>
Arithmetic common_arithmetic(std::span<const Given> given) {
  for (std::size_t i = 1; i < given.size(); ++i)
    if (given[i].arithmetic != given[0].arithmetic)
      refuse("merge", "list " + std::to_string(i) + " has arithmetic " +
                          std::string(name_in(names_of<Arithmetic>, given[i].arithmetic)) +
                          ", but list 0 has " +
                          std::string(name_in(names_of<Arithmetic>, given[0].arithmetic)) +
                          "; search all shards in one arithmetic");
  return given.empty() ? Arithmetic::f32 : given[0].arithmetic;
}

/// Writes the distances of keys, in their arithmetic.
template <class Lists, class Found>
void finish_to(ShownBy shown, const Lists& keys, Found& found) {
  by_arithmetic(keys.arithmetic, [&](auto code) {
    using Code = decltype(code);
    check_keys("finish", lists_of<Code>("finish", keys));
    const std::span<const Code> values(codes_of<Code>(keys));
    found.arithmetic = keys.arithmetic;
    auto& distance = distances_of<Code>(found);
    distance.resize(values.size());
    check_shown<Code>("finish", shown, values);
    finish_values(shown, values, distance.data());
  });
  found.queries = keys.queries;
  found.row = keys.row;
}

}  // namespace

Keys merge(std::span<const Keys> lists) try {
  return by_arithmetic(common_arithmetic(lists), [&](auto code) {
    using Code = decltype(code);
    const std::vector<ListsOf<Code>> all = all_lists<Code>(lists);
    Keys merged;
    if (!all.empty()) {
      merged.queries = all.front().queries;
      merged.k = all.front().k;
      merged.arithmetic = lists.front().arithmetic;
    }
    codes_of<Code>(merged).resize(cells_of(merged.queries, merged.k));
    merged.row.resize(codes_of<Code>(merged).size());
    merge_keys<Code>(all, codes_of<Code>(merged).data(), merged.row.data());
    return merged;
  });
} catch (...) {
  rethrow_as_error();
}

RadiusKeys merge(std::span<const RadiusKeys> lists) try {
  return by_arithmetic(common_arithmetic(lists), [&](auto code) {
    return merge_radius_keys<decltype(code)>(all_lists<decltype(code)>(lists));
  });
} catch (...) {
  rethrow_as_error();
}

Neighbors finish(ShownBy shown, const Keys& keys) try {
  Neighbors found;
  finish_to(shown, keys, found);
  found.k = keys.k;
  return found;
} catch (...) {
  rethrow_as_error();
}

RadiusNeighbors finish(ShownBy shown, const RadiusKeys& keys) try {
  RadiusNeighbors found;
  finish_to(shown, keys, found);
  found.first = keys.first;
  return found;
} catch (...) {
  rethrow_as_error();
}

Keys leave_out(const Keys& keys, std::span<const std::int64_t> rows) try {
  return by_arithmetic(keys.arithmetic, [&](auto code) {
    using Code = decltype(code);
    const ListsOf<Code> lists = lists_of<Code>("leave_out", keys);
    Keys kept{keys.queries, keys.k - 1, {}, {}, keys.arithmetic};
    codes_of<Code>(kept).resize(cells_of(kept.queries, kept.k));
    kept.row.resize(codes_of<Code>(kept).size());
    leave_out_of(lists, rows, codes_of<Code>(kept).data(), kept.row.data());
    return kept;
  });
} catch (...) {
  rethrow_as_error();
}

RadiusKeys leave_out(const RadiusKeys& keys, std::span<const std::int64_t> rows) try {
  if (static_cast<std::int64_t>(rows.size()) != keys.queries)
    throw Error(Errc::invalid_argument, "leave_out: " + std::to_string(rows.size()) + " rows for " +
                                            std::to_string(keys.queries) +
                                            " queries; give one a query, -1 for none");
  return by_arithmetic(keys.arithmetic, [&](auto code) {
    using Code = decltype(code);
    const ListsOf<Code> lists = lists_of<Code>("leave_out", keys);
    check_keys("leave_out", lists);
    RadiusKeys kept{keys.queries, {0}, {}, {}, keys.arithmetic};
    for (std::int64_t q = 0; q < keys.queries; ++q) {
      for (std::size_t i = lists.begin(q); i < lists.begin(q + 1); ++i) {
        if (keys.row[i] == rows[size(q)]) continue;
        codes_of<Code>(kept).push_back(lists.value[i]);
        kept.row.push_back(keys.row[i]);
      }
      kept.first.push_back(static_cast<std::int64_t>(kept.row.size()));
    }
    return kept;
  });
} catch (...) {
  rethrow_as_error();
}

std::uint64_t digest(const Keys& keys) try {
  return by_arithmetic(keys.arithmetic,
                       [&](auto code) { return digest_of(lists_of<decltype(code)>("digest", keys)); });
} catch (...) {
  rethrow_as_error();
}

float largest_element(const RowsView& rows, const std::vector<std::int64_t>& features) try {
  const std::vector<std::int64_t> columns = ordered_features(features, rows.cols);
  const bool all = static_cast<std::int64_t>(columns.size()) == rows.cols;
  const std::span<const std::int64_t> some = all ? std::span<const std::int64_t>() : columns;
  const char* const where = "largest_element";
  if (is_wide(rows.element))
    return spi::float_above(
        prepare_doubles(where, "training", rows, Metric::negative_dot, some, {}, 0).largest);
  return prepare_rows(where, "training", rows, Metric::negative_dot, 0, some).largest;
} catch (...) {
  rethrow_as_error();
}

}  // namespace kith
